"""The few shapes a batch may have: sentences of similar length share one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np


def bucket_bounds(*, min_length: int, max_length: int, step: float) -> tuple[int, ...]:
    """Return the padded lengths: min_length, then x -> max(x + 1, int(step x)), up to max_length.

    tensor2tensor's rule. A larger step gives fewer shapes, so fewer compilations, and more padding.
    """
    bounds = []
    bound = min_length
    while bound < max_length:
        bounds.append(bound)
        bound = max(bound + 1, int(bound * step))
    return (*bounds, max_length)


@dataclasses.dataclass(frozen=True)
class Buckets:
    """Padded lengths, ascending, and how many sentences a batch of each holds.

    Every batch of bucket i is (rows[i], bounds[i]) for both languages.

    Args:
        bounds: padded lengths.
        rows: sentences, over all replicas.
        replicas: how many devices share a batch; it divides all rows.
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
        """Make the buckets of tensor2tensor's meaning of `batch_size`: padded tokens per replica.

        Args:
            batch_size: rows * length of one language's batch on one replica.
            max_length: the longest bucket.
            min_length_bucket: the shortest bucket.
            length_bucket_step: growth from one bucket to the next, above 1.
            replicas: how many devices share a batch; rows are multiplied by it.
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
        """The longest sentence that fits, EOS included."""
        return self.bounds[-1]

    def of(self, lengths: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the bucket of each length; `len(self)` where none is long enough."""
        return np.searchsorted(np.asarray(self.bounds), lengths)

    def extended(self, longest: int) -> Buckets:
        """Return buckets that also hold `longest`: lengths doubled, rows halved, until it fits."""
        bounds, rows = list(self.bounds), list(self.rows)
        while bounds[-1] < longest:
            bounds.append(bounds[-1] * 2)
            rows.append(max(1, rows[-1] // self.replicas // 2) * self.replicas)
        return Buckets(tuple(bounds), tuple(rows), self.replicas)

    def largest(self) -> int:
        """Return the bucket that needs the most memory: attention grows with rows * length^2."""
        return max(range(len(self)), key=lambda i: self.rows[i] * self.bounds[i] ** 2)
