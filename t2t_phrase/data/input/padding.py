"""Reads the pairs of several batches at once into padded arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.data.input.packing import Places
from t2t_phrase.data.input.reader import Pairs
from t2t_phrase.data.input.share import Share
from t2t_phrase.data.shards.ragged import spans
from t2t_phrase.features import IDS, PAIRS, Feature, Side


class Shape(NamedTuple):
    """The rows and the padded length of a batch."""

    rows: int
    bound: int


class Padded(NamedTuple):
    """The content of a batch."""

    features: dict[str, np.ndarray]
    """Its arrays by name, (rows, bound) int32."""
    tokens: int
    """Number of source and target tokens of all its pairs, padding excluded."""
    targets: int
    """Number of target tokens of all its pairs."""


@dataclasses.dataclass(frozen=True)
class Padder:
    """Makes padded batches of pairs.

    Args:
        pairs: the pairs.
        features: the features that the batches hold in addition to the ids.
        share: the rows that the arrays have; the tokens of other rows are not read, only counted.
    """

    pairs: Pairs
    features: tuple[Feature, ...] = ()
    share: Share = Share()  # noqa: RUF009

    def pad(
        self,
        shapes: Sequence[Shape],
        members: Sequence[np.ndarray],
        packed: Sequence[Places] | None = None,
    ) -> list[Padded]:
        """Return the content of each batch.

        Args:
            shapes: shapes of the batches.
            members: the numbers of the pairs of each batch.
            packed: the places of the pairs, if rows hold several; the arrays then include the
                numbers of the pairs within their rows, see `features.PAIRS`. None: each of the
                first rows holds one pair.
        """
        own = [Shape(self.share.rows(shape.rows), shape.bound) for shape in shapes]
        ends = np.cumsum([shape.rows * shape.bound for shape in own])
        firsts = [0, *ends[:-1].tolist()]
        numbers = np.concatenate(members)
        ordinals = None
        if packed is None:
            begins = [np.arange(len(n)) * s.bound for s, n in zip(shapes, members, strict=True)]
            source = target = self._places(firsts, shapes, begins)
        else:
            sources, targets, ordinal = zip(*packed, strict=True)
            source = self._places(firsts, shapes, sources)
            target = self._places(firsts, shapes, targets)
            ordinals = np.concatenate(ordinal)
        arrays, counts = self._fill(int(ends[-1]), numbers, source, target, ordinals)
        counted = np.concatenate([np.zeros((2, 1), np.int64), np.cumsum(counts, axis=1)], axis=1)
        of_batch = np.diff(counted[:, [0, *np.cumsum([len(n) for n in members]).tolist()]])
        return [
            Padded(
                {
                    name: array[first : first + shape.rows * shape.bound].reshape(shape)
                    for name, array in arrays.items()
                },
                int(sum(count)),
                int(count[1]),
            )
            for first, shape, count in zip(firsts, own, of_batch.T.tolist(), strict=True)
        ]

    def _places(
        self, firsts: Sequence[int], shapes: Sequence[Shape], begins: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return where pairs begin in the joined arrays of several batches; -1: in another share.

        Args:
            firsts: where the arrays of each batch begin.
            shapes: shapes of the whole batches.
            begins: where the pairs of each batch begin, counted through all of its rows.
        """
        found = []
        for first, shape, begin in zip(firsts, shapes, begins, strict=True):
            if not self.share.is_all:
                row = self.share.places(shape.rows)[begin // shape.bound]
                begin = np.where(row < 0, -1 - first, row * shape.bound + begin % shape.bound)
            found.append(first + begin)
        return np.concatenate(found)

    def _fill(
        self,
        size: int,
        numbers: np.ndarray,
        sources: np.ndarray,
        targets: np.ndarray,
        ordinals: np.ndarray | None,
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return flat arrays in which each pair begins at its places.

        Also return (2, pairs): the number of tokens of each source and target.
        """
        begin: dict[Side, np.ndarray] = {"source": sources, "target": targets}
        filled = (*IDS.values(), *(() if ordinals is None else PAIRS.values()))
        arrays = {name: np.zeros(size, np.int32) for name in filled}
        arrays |= {feature.name: np.full(size, feature.pad, np.int32) for feature in self.features}
        tokens = np.zeros((len(IDS), len(numbers)), np.int64)
        # Each shard is read once, from its beginning to its end.
        ascending = np.argsort(numbers)
        bounds = np.searchsorted(numbers[ascending], self.pairs.starts)
        for shard, columns in enumerate(self.pairs.columns):
            here = ascending[bounds[shard] : bounds[shard + 1]]
            if not len(here):
                continue
            local = numbers[here] - self.pairs.starts[shard]
            for row, (side, ids) in enumerate(IDS.items()):
                splits = columns[ids].splits
                starts = splits[local]
                lengths = splits[local + 1] - starts
                tokens[row, here] = lengths
                read = here
                if not self.share.is_all:
                    own = begin[side][here] >= 0
                    read, starts, lengths = here[own], starts[own], lengths[own]
                source, target = spans(starts, lengths), spans(begin[side][read], lengths)
                if ordinals is not None:
                    arrays[PAIRS[side]][target] = np.repeat(ordinals[read], lengths)
                for name, column in columns.items():
                    if self.pairs.sides[name] == side:
                        arrays[name][target] = column.values[source]
        return arrays, tokens
