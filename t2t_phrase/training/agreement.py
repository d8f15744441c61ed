"""Sharing of facts that one worker knows, such as a signal or the chief's BLEU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Agreement:
    """Shares numbers among the workers, so that all of them take the same decisions.

    A worker that stopped alone would leave the others waiting for it for ever. Each call is one
    small all-reduce, which all workers must take part in at the same point. This one is of a
    single worker, and costs nothing; see `WorkerAgreement` for several.
    """

    def largest(self, number: float) -> float:
        """Return the largest number that any worker gives."""
        return float(self._everyones([number])[:, 0].max())

    def same(self, number: float) -> bool:
        """Return whether all workers give the same number."""
        return len(set(self._everyones([number])[:, 0].tolist())) == 1

    def of_chief(self, numbers: Sequence[float]) -> list[float]:
        """Return the chief's numbers; those of the other workers do not matter."""
        return self._everyones(numbers)[0].tolist()

    def _everyones(self, numbers: Sequence[float]) -> np.ndarray:
        """Return (replicas, numbers): a row for each replica, the chief's first."""
        return np.array(numbers, np.float64)[None]
