"""Sentence pairs as arrays: a cell for each pair of a source word, or none, and a target word."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

# Maximum number of cells of a chunk, which has several 64-bit arrays of this size in memory.
MOST_CELLS = 2_000_000

Ids = Sequence[int]


class Bucket(NamedTuple):
    """Sentence pairs of the same two lengths, I source and J target words.

    Attributes:
        pairs: (n,) int, the numbers of the pairs.
        first: the place of the first cell among those of the chunk.
        shape: (J, n, I + 1). In the last axis, 0 is the empty word, which precedes the source.
    """

    pairs: np.ndarray
    first: int
    shape: tuple[int, int, int]

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the part of a chunk's values that belongs to the bucket, a view in `shape`."""
        return values[self.first : self.first + int(np.prod(self.shape))].reshape(self.shape)


class Chunk(NamedTuple):
    """Buckets that are processed together.

    Attributes:
        entries: (cells,) int32, the entry of the lexical table for each cell.
        buckets: the buckets; their cells follow each other.
    """

    entries: np.ndarray
    buckets: list[Bucket]


@dataclasses.dataclass(frozen=True)
class Cells:
    """The cells of a corpus, for a table of word pairs that occur in the same sentence pair.

    Attributes:
        chunks: the cells, in chunks.
        given: (entries,) int, the source word of each entry of the table; 0: the empty word.
        vocab_size: number of different target words.
        target_words: number of target words in all sentences.
    """

    chunks: list[Chunk]
    given: np.ndarray
    vocab_size: int
    target_words: int


def make_cells(sources: Sequence[Ids], targets: Sequence[Ids]) -> Cells:
    """Return the cells of sentence pairs.

    Args:
        sources: words as numbers from 0; at least one sentence, and none without words.
        targets: likewise.
    """
    width = 1 + max(map(max, targets))
    groups = list(_groups(sources, targets))

    def keys_of(group: list[np.ndarray]) -> list[np.ndarray]:
        return [_keys(pairs, sources, targets, width) for pairs in group]

    # The keys of all cells would need twice the memory of the entries, so they are computed twice.
    known = [_distinct(np.concatenate([keys.ravel() for keys in keys_of(g)])) for g in groups]
    table = _distinct(np.concatenate(known))
    chunks = []
    for group in groups:
        buckets, entries = [], []
        first = 0
        for pairs, keys in zip(group, keys_of(group), strict=True):
            buckets.append(Bucket(pairs, first, keys.shape))
            entries.append(np.searchsorted(table, keys.ravel()).astype(np.int32))
            first += keys.size
        chunks.append(Chunk(np.concatenate(entries), buckets))
    return Cells(chunks, table // width, width, sum(map(len, targets)))


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return the different keys, ascending."""
    # `np.unique` counts in a hash table, which takes up to a hundred times as long as sorting.
    ordered = np.sort(keys)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])


def _groups(sources: Sequence[Ids], targets: Sequence[Ids]) -> Iterator[list[np.ndarray]]:
    """Yield the groups of each chunk; a group consists of pairs with the same two lengths."""
    by_lengths: dict[tuple[int, int], list[int]] = {}
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        by_lengths.setdefault((len(source), len(target)), []).append(number)
    group: list[np.ndarray] = []
    cells = 0
    for (length, other), numbers in sorted(by_lengths.items()):
        each = (length + 1) * other
        rows = max(1, MOST_CELLS // each)
        for start in range(0, len(numbers), rows):
            part = np.array(numbers[start : start + rows])
            if group and cells + each * len(part) > MOST_CELLS:
                yield group
                group, cells = [], 0
            group.append(part)
            cells += each * len(part)
    if group:
        yield group


def _keys(
    pairs: np.ndarray, sources: Sequence[Ids], targets: Sequence[Ids], width: int
) -> np.ndarray:
    """Return (J, n, I + 1) int64: a number for each pair of words in the pairs of a bucket."""
    source = np.array([[-1, *sources[number]] for number in pairs], np.int64) + 1
    target = np.array([targets[number] for number in pairs], np.int64)
    return np.asarray(source * width + target.T[:, :, None])
