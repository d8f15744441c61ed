"""Sharing of facts that one worker knows, such as a signal or the chief's BLEU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import keras
import numpy as np


class Agreement:
    """Shares numbers among the workers, so that all of them take the same decisions.

    A worker that stopped alone would leave the others waiting for it forever. Each call is one
    small all-reduce, in which all workers must take part at the same point. This class is for a
    single worker, and costs nothing; see `WorkerAgreement` for several.

    Attributes:
        worker: the number of this worker, the chief's being 0.
        workers: the number of workers.
        is_chief: whether this worker is the chief.
    """

    worker: int = 0
    workers: int = 1
    is_chief: bool = True

    def largest(self, number: float) -> float:
        """Return the largest number that any worker gives."""
        return float(self._everyones([number])[:, 0].max())

    def of_chief(self, numbers: Sequence[float]) -> list[float]:
        """Return the chief's numbers; those of the other workers are ignored."""
        return self._everyones(numbers)[0].tolist()

    def text_of_chief(self, text: str) -> str:
        """Return the chief's text; the texts of the other workers are ignored."""
        return text

    def share(self, variables: Iterable[keras.Variable]) -> None:
        """Give the variables of all workers the chief's values, bit for bit."""

    def _everyones(self, numbers: Sequence[float]) -> np.ndarray:
        """Return (replicas, numbers): a row for each replica, the chief's first."""
        return np.array(numbers, np.float64)[None]
