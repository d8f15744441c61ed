"""Rows of different lengths in one array, handled without a loop over the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Ragged(NamedTuple):
    """Row i is `values[splits[i]:splits[i + 1]]`."""

    values: np.ndarray
    """(total,) all rows, one after the other."""
    splits: np.ndarray
    """(rows + 1,) int64, ascending from 0."""

    @classmethod
    def of(cls, values: np.ndarray, lengths: np.ndarray) -> Ragged:
        """Return rows of these lengths."""
        splits = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=splits[1:])
        return cls(values, splits)

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) int64."""
        return np.diff(self.splits)

    def row(self, number: int) -> np.ndarray:
        """Return one row."""
        return self.values[self.splits[number] : self.splits[number + 1]]

    def take(self, rows: np.ndarray) -> Ragged:
        """Return these rows in this order."""
        starts = self.splits[rows]
        lengths = self.splits[rows + 1] - starts
        return Ragged.of(self.values[spans(starts, lengths)], lengths)


def spans(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return start, start + 1, ..., start + length - 1 for each start and length, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found = np.repeat(starts - ends + lengths, lengths)
    found += np.arange(total)
    return found
