"""The packing of pairs into rows, determined from the lengths of the sentences alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from t2t_phrase.data.input.reader import Pairs
from t2t_phrase.features import IDS

# A constant, since it determines the rows. More open rows save less than 1% of padding, and the
# time to find one grows with their number.
OPEN_ROWS = 8

# Lengths are looked up for this many pairs at a time.
_SLICE = 2**16


class Places(NamedTuple):
    """The places of the N pairs of a batch whose rows hold several pairs."""

    source: np.ndarray
    """(N,) where each source begins, counted through all rows of the batch."""
    target: np.ndarray
    """(N,) the same for the targets."""
    ordinals: np.ndarray
    """(N,) the number of each pair within its row, from 1."""


def lengths_of(pairs: Pairs, longest: int) -> np.ndarray:
    """Return (2, pairs): the length of each source and target, `longest` + 1 for all longer ones.

    The result takes two or four bytes for each pair.
    """
    found = np.empty((len(IDS), len(pairs)), np.min_scalar_type(longest + 1))
    for shard, columns in enumerate(pairs.columns):
        here = slice(int(pairs.starts[shard]), int(pairs.starts[shard + 1]))
        for side, ids in enumerate(IDS.values()):
            found[side, here] = np.minimum(columns[ids].lengths, longest + 1)
    return found


def pack_rows(
    order: np.ndarray, lengths: np.ndarray, *, length: int, longest: int
) -> Iterator[list[int]]:
    """Yield the numbers of the pairs of each row.

    Each pair in turn is put into the first of `OPEN_ROWS` rows that has room for both of its sides.
    If none has, the row with the fewest free places is finished, and the pair begins a new one. The
    rows thus follow roughly the order of their pairs, and memory does not grow with the number of
    pairs.

    Args:
        order: numbers of the pairs, in the order in which they are packed.
        lengths: from `lengths_of`.
        length: number of places in a row on each side.
        longest: pairs with a side longer than this are left out; at most `length`.
    """
    rows: list[list[int]] = []
    free: list[tuple[int, int]] = []
    for start in range(0, len(order), _SLICE):
        numbers = order[start : start + _SLICE]
        for number, source, target in zip(
            numbers.tolist(), *lengths[:, numbers].tolist(), strict=True
        ):
            if max(source, target) > longest:
                continue
            for place, (left, right) in enumerate(free):
                if source <= left and target <= right:
                    rows[place].append(number)
                    free[place] = left - source, right - target
                    break
            else:
                if len(rows) == OPEN_ROWS:
                    fullest = min(range(OPEN_ROWS), key=lambda place: sum(free[place]))
                    del free[fullest]
                    yield rows.pop(fullest)
                rows.append([number])
                free.append((length - source, length - target))
    yield from rows


def batches_of(
    rows: Iterator[list[int]], lengths: np.ndarray, *, length: int, size: int
) -> Iterator[tuple[np.ndarray, Places]]:
    """Yield the numbers of the pairs of each batch, row by row, and their places.

    Args:
        rows: from `pack_rows`.
        lengths: from `lengths_of`.
        length: number of places in a row on each side.
        size: number of rows in a batch; the last batch may have fewer.
    """
    while taken := list(itertools.islice(rows, size)):
        counts = np.array([len(row) for row in taken])
        numbers = np.concatenate([np.array(row, np.int64) for row in taken])
        firsts = np.cumsum(counts) - counts
        source, target = (
            _starts(side[numbers].astype(np.int64), firsts, counts, length) for side in lengths
        )
        ordinals = np.arange(len(numbers)) - np.repeat(firsts, counts) + 1
        yield numbers, Places(source, target, ordinals)


def _starts(lengths: np.ndarray, firsts: np.ndarray, counts: np.ndarray, length: int) -> np.ndarray:
    """Return the start of each sentence, with sentences laid end to end in rows of `length`."""
    before = np.cumsum(lengths) - lengths
    rows = np.arange(len(counts)) * length
    return before + np.repeat(rows - before[firsts], counts)
