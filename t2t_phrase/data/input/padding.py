"""Reads the pairs of several batches at once into padded arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.data.input.reader import Pairs
from t2t_phrase.data.shards.ragged import spans
from t2t_phrase.features import IDS, Feature


class Shape(NamedTuple):
    """The rows and the padded length of a batch."""

    rows: int
    bound: int


@dataclasses.dataclass(frozen=True)
class Padder:
    """Makes padded batches of pairs.

    Args:
        pairs: the pairs.
        features: those that the batches hold beside the ids.
    """

    pairs: Pairs
    features: tuple[Feature, ...] = ()

    def pad(
        self, shapes: Sequence[Shape], members: Sequence[np.ndarray]
    ) -> list[tuple[dict[str, np.ndarray], int]]:
        """Return for each batch its arrays by name, and the number of its tokens on both sides.

        Args:
            shapes: of the batches.
            members: the numbers of the pairs of each batch, one for each of its first rows.
        """
        sizes = np.array([shape.rows * shape.bound for shape in shapes])
        places = np.concatenate([[0], np.cumsum(sizes)])
        numbers = np.concatenate(members)
        rows = [
            place + np.arange(len(group)) * shape.bound
            for place, shape, group in zip(places[:-1].tolist(), shapes, members, strict=True)
        ]
        arrays, tokens = self._fill(int(places[-1]), numbers, np.concatenate(rows))
        ends = np.cumsum([len(group) for group in members])
        sums = np.concatenate([[0], np.cumsum(tokens)])[np.concatenate([[0], ends])]
        return [
            (
                {
                    name: array[place : place + shape.rows * shape.bound].reshape(shape)
                    for name, array in arrays.items()
                },
                int(count),
            )
            for place, shape, count in zip(
                places[:-1].tolist(), shapes, np.diff(sums).tolist(), strict=True
            )
        ]

    def _fill(
        self, size: int, numbers: np.ndarray, rows: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return flat arrays in which each pair begins at its place, and the pairs' tokens."""
        arrays = {name: np.zeros(size, np.int32) for name in IDS.values()}
        arrays |= {feature.name: np.full(size, feature.pad, np.int32) for feature in self.features}
        tokens = np.zeros(len(numbers), np.int64)
        # Each shard is read once, from its beginning to its end.
        ascending = np.argsort(numbers)
        bounds = np.searchsorted(numbers[ascending], self.pairs.starts)
        for shard, columns in enumerate(self.pairs.columns):
            here = ascending[bounds[shard] : bounds[shard + 1]]
            if not len(here):
                continue
            local = numbers[here] - self.pairs.starts[shard]
            for side, ids in IDS.items():
                splits = columns[ids].splits
                starts = splits[local]
                lengths = splits[local + 1] - starts
                tokens[here] += lengths
                source, target = spans(starts, lengths), spans(rows[here], lengths)
                for name, column in columns.items():
                    if self.pairs.sides[name] == side:
                        arrays[name][target] = column.values[source]
        return arrays, tokens
