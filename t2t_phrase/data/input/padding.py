"""Reads the pairs of several batches at once into padded arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.data.input.packing import Places
from t2t_phrase.data.input.reader import Pairs
from t2t_phrase.data.shards.ragged import spans
from t2t_phrase.features import IDS, PAIRS, Feature, Side


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
        self,
        shapes: Sequence[Shape],
        members: Sequence[np.ndarray],
        packed: Sequence[Places] | None = None,
    ) -> list[tuple[dict[str, np.ndarray], int]]:
        """Return for each batch its arrays by name, and the number of its tokens on both sides.

        Args:
            shapes: of the batches.
            members: the numbers of the pairs of each batch.
            packed: where they lie, if rows hold several pairs; the arrays then include the numbers
                of the pairs within their rows, see `features.PAIRS`. None: each of the first rows
                holds one pair.
        """
        sizes = np.array([shape.rows * shape.bound for shape in shapes])
        places = np.concatenate([[0], np.cumsum(sizes)])
        numbers = np.concatenate(members)
        if packed is None:
            rows = [
                place + np.arange(len(group)) * shape.bound
                for place, shape, group in zip(places[:-1].tolist(), shapes, members, strict=True)
            ]
            joined = np.concatenate(rows)
            arrays, tokens = self._fill(int(places[-1]), numbers, joined, joined)
        else:
            firsts = np.repeat(places[:-1], [len(group) for group in members])
            source, target, ordinals = map(np.concatenate, zip(*packed, strict=True))
            arrays, tokens = self._fill(
                int(places[-1]), numbers, firsts + source, firsts + target, ordinals
            )
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
        self,
        size: int,
        numbers: np.ndarray,
        sources: np.ndarray,
        targets: np.ndarray,
        ordinals: np.ndarray | None = None,
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return flat arrays in which each pair begins at its places, and the pairs' tokens."""
        begin: dict[Side, np.ndarray] = {"source": sources, "target": targets}
        filled = (*IDS.values(), *(() if ordinals is None else PAIRS.values()))
        arrays = {name: np.zeros(size, np.int32) for name in filled}
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
                source, target = spans(starts, lengths), spans(begin[side][here], lengths)
                if ordinals is not None:
                    arrays[PAIRS[side]][target] = np.repeat(ordinals[here], lengths)
                for name, column in columns.items():
                    if self.pairs.sides[name] == side:
                        arrays[name][target] = column.values[source]
        return arrays, tokens
