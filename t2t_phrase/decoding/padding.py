"""Arrays of rows of different lengths, in few shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def power_of_two(least: int) -> int:
    """Return the lowest power of two that is not below `least`, which is at least 1."""
    return 1 << (least - 1).bit_length()


def padded_array(
    rows: Sequence[Any], batch_size: int, depth: int, *, last: int | None = None
) -> np.ndarray:
    """Return nested sequences of integers as an int32 array, padded with 0.

    Each axis but the first is as long as the lowest power of two that has room for all.

    Args:
        rows: one for each of the first rows of the array.
        batch_size: number of rows of the array.
        depth: number of axes of each row.
        last: length of the last axis; None: as for the others.
    """
    sizes = [power_of_two(max(size, 1)) for size in _sizes(rows, depth)]
    if last is not None:
        sizes[-1] = last
    array = np.zeros((batch_size, *sizes), "int32")
    _fill(array[: len(rows)], rows)
    return array


def _sizes(rows: Sequence[Any], depth: int) -> list[int]:
    if not depth:
        return []
    inner = [item for row in rows for item in row]
    return [max(map(len, rows), default=0), *_sizes(inner, depth - 1)]


def _fill(array: np.ndarray, rows: Sequence[Any]) -> None:
    if array.ndim == 2:
        for number, row in enumerate(rows):
            array[number, : len(row)] = row
        return
    for number, row in enumerate(rows):
        _fill(array[number, : len(row)], row)
