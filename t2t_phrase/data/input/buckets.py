"""Buckets: the few shapes of batches, shared by sentences of similar length."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np


def bucket_bounds(*, min_length: int, max_length: int, step: float) -> tuple[int, ...]:
    """Return the padded lengths: min_length, then x -> max(x + 1, int(step x)), up to max_length.

    This is tensor2tensor's rule. A larger step gives fewer shapes, hence fewer compilations, but
    more padding.
    """
    bounds = []
    bound = min_length
    while bound < max_length:
        bounds.append(bound)
        bound = max(bound + 1, int(bound * step))
    return (*bounds, max_length)


@dataclasses.dataclass(frozen=True)
class Buckets:
    """Padded lengths, ascending, and the number of sentences in a batch of each.

    Every batch of bucket i is (rows[i], bounds[i]) for both languages.

    Args:
        bounds: padded lengths.
        rows: sentences in a batch, over all replicas.
        replicas: equal parts that a batch is computed in; divides all rows.
    """

    bounds: tuple[int, ...]
    rows: tuple[int, ...]
    replicas: int = 1

    @classmethod
    def build(
        cls,
        *,
        batch_size: int,
        max_length: int,
        min_length_bucket: int,
        length_bucket_step: float,
        replicas: int = 1,
    ) -> Buckets:
        """Make buckets by tensor2tensor's definition of `batch_size`: padded tokens per replica.

        Args:
            batch_size: rows * length of one language's batch on one replica.
            max_length: the longest bucket.
            min_length_bucket: the shortest bucket.
            length_bucket_step: growth from one bucket to the next, above 1.
            replicas: equal parts that a batch is computed in; rows are multiplied by it.
        """
        bounds = bucket_bounds(
            min_length=min_length_bucket, max_length=max_length, step=length_bucket_step
        )
        rows = tuple(max(1, batch_size // bound) * replicas for bound in bounds)
        return cls(bounds, rows, replicas)

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def max_length(self) -> int:
        """Length of the longest sentence that fits, including EOS."""
        return self.bounds[-1]

    def of(self, lengths: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the bucket of each length; `len(self)` if none is long enough."""
        return np.searchsorted(np.asarray(self.bounds), lengths)

    def extended(self, longest: int) -> Buckets:
        """Return buckets up to `longest`; each added one doubles length and halves rows."""
        bounds, rows = list(self.bounds), list(self.rows)
        while bounds[-1] < longest:
            bounds.append(bounds[-1] * 2)
            rows.append(max(1, rows[-1] // self.replicas // 2) * self.replicas)
        return Buckets(tuple(bounds), tuple(rows), self.replicas)

    def largest(self) -> int:
        """Return the bucket that needs the most memory: attention grows with rows * length^2."""
        return max(range(len(self)), key=lambda i: self.rows[i] * self.bounds[i] ** 2)
