"""The shares of several workers in the rows of each batch."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Share:
    """Some of the equal parts, the shards, that every batch is divided into.

    Args:
        shards: number of shards of a batch; each has equally many consecutive rows.
        own: numbers of the shards of this worker, in the order in which it computes them.
    """

    shards: int = 1
    own: tuple[int, ...] = (0,)

    @classmethod
    def of(cls, *, worker: int, workers: int, replicas: int, parts: int) -> Share:
        """Return the share of a worker.

        Args:
            worker: number of the worker.
            workers: number of workers.
            replicas: number of devices of all workers.
            parts: number of shards that each device computes, one after the other.
        """
        here = replicas // workers
        first = worker * here
        own = (part * replicas + first + r for part in range(parts) for r in range(here))
        return cls(replicas * parts, tuple(own))

    @property
    def is_all(self) -> bool:
        """Whether the share consists of all rows, in order."""
        return self.own == tuple(range(self.shards))

    def rows(self, rows: int) -> int:
        """Return the number of rows in this share of a batch that has `rows` rows."""
        return rows // self.shards * len(self.own)

    def places(self, rows: int) -> np.ndarray:
        """Return (rows,): the place of each row of a batch among those of this share, or -1."""
        size = rows // self.shards
        places = np.full((self.shards, size), -1)
        places[list(self.own)] = np.arange(len(self.own) * size).reshape(-1, size)
        return places.reshape(-1)
