"""The share of attention from and to tokens and n-grams.

Nguyen and Joty (2018), Tables 3 and 4. Two measures:

- softmax mass: the share of a query's attention on the keys of each order, averaged over heads and
  over the queries of one order. The shares from one order of queries sum to 1.
- strongest activation: the share of positions whose largest weight, among those of all heads and of
  the query n-grams of all orders that end there, goes from and to these orders. Equal largest
  weights share the position. The shares of a layer sum to 1.

The paper reports a "percentage of activations" without defining it. Each row of its tables sums to
100, with 4 to 99 in the two columns of token queries together. Softmax gives every query a mass of
1, and there are nearly as many n-grams as tokens, so softmax mass would make those two columns sum
to nearly 50. The second measure can produce such rows: it is the one to compare with the paper.

Shapes: B batch, H heads, T queries, S memory positions, M and N orders of queries and memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.layers.attention.blocks import split_blocks
from t2t_phrase.layers.attention.layout import TOKENS, Layout, Units
from t2t_phrase.ops.masks import padding_mask
from t2t_phrase.ops.position import positions

Measure = Literal["mass", "strongest"]
QUADRANTS = ("token-to-token", "token-to-phrase", "phrase-to-token", "phrase-to-phrase")


class Sums(NamedTuple):
    """Sums over sentences.

    Attributes:
        mass: (M, N), the softmax mass on each order of keys, averaged over heads.
        rows: (M,), the number of queries.
        strongest: (M, N), the number of positions whose strongest activation is there.
        positions: scalar, the number of positions.
        entropy: (M,), the entropy of a query's weights in nats, averaged over heads.
        largest: (M,), the largest weight of a query, averaged over heads.
    """

    mass: Any
    rows: Any
    strongest: Any
    positions: Any
    entropy: Any
    largest: Any


def block_sums(
    weights: Any, layout: Layout, real: Any, partitions: Mapping[str, Any] | None = None
) -> Sums:
    """Return the sums over one batch of one layer's weights.

    Query n-grams that would begin before the sentence are not counted, nor are padding, segments
    without tokens and queries that have nothing to attend to.

    Args:
        weights: (B, H, R, C) as the layer returns them; (B, R, C) without heads.
        layout: of these weights.
        real: (B, T) bool, False at the padding of the queries.
        partitions: those that the rows of the layout name, (B, P, T) bool.
    """
    if not layout.num_heads:
        weights = weights[:, None]
    heads, blocks = weights.shape[1], split_blocks(weights, layout)
    mass = ops.stack([ops.stack([ops.sum(b, (1, 3)) for b in row]) for row in blocks]) / heads
    peak = ops.stack([ops.stack([ops.max(b, (1, 3)) for b in row]) for row in blocks])
    # Both are (M, N, B, T).
    position = positions(ops.shape(real)[1])
    exists = ops.stack(
        [
            ops.any((partitions or {})[units.partition], axis=-1)
            if units.partition
            else ops.logical_and(real, position >= units.order - 1)
            for units in layout.rows
        ]
    )
    exists = ops.logical_and(exists, ops.sum(mass, axis=1) > 0)[:, None]  # (M, 1, B, T)
    highest = ops.max(ops.where(exists, peak, -1.0), axis=(0, 1))  # (B, T)
    winners = ops.cast(ops.logical_and(exists, ops.equal(peak, highest)), "float32")
    votes = winners / ops.maximum(ops.sum(winners, axis=(0, 1)), 1.0)
    counted = ops.cast(exists, "float32")
    plain = ops.cast(weights, "float32")
    surprise = ops.where(plain > 0, -ops.log(ops.where(plain > 0, plain, 1.0)), 0.0)
    entropy = _by_kind(ops.sum(plain * surprise, axis=-1), layout)
    largest = _by_kind(ops.max(plain, axis=-1), layout)
    return Sums(
        mass=ops.sum(mass * counted, axis=(2, 3)),
        rows=ops.sum(counted, axis=(1, 2, 3)),
        strongest=ops.sum(votes, axis=(2, 3)),
        positions=ops.sum(ops.max(counted, axis=(0, 1))),
        entropy=ops.sum(entropy * counted[:, 0], axis=(1, 2)),
        largest=ops.sum(largest * counted[:, 0], axis=(1, 2)),
    )


def _by_kind(values: Any, layout: Layout) -> Any:
    """Return (M, B, T): the mean over heads of values (B, H, R), by the kind of the row."""
    return ops.stack(ops.split(ops.mean(values, axis=1), len(layout.rows), axis=1))


@dataclasses.dataclass(frozen=True)
class LayerStatistics:
    """The sums over all sentences of one attention layer.

    Attributes:
        attention: its name in `model.attention_maps`.
        title: the title of the attention.
        layer: number of the layer, from 1 on.
        layout: of its weights.
        sums: in float64.
    """

    attention: str
    title: str
    layer: int
    layout: Layout
    sums: Sums

    def quadrants(self, measure: Measure) -> dict[str, float | None]:
        """Return the shares of the quadrants that the layer has, named as in the paper.

        All units but tokens count as phrases. None: there was no such query, because no sentence
        was long enough.
        """
        shares = {}
        for query_kind, queries in _tokens_and_phrases(self.layout.rows).items():
            for key_kind, keys in _tokens_and_phrases(self.layout.all_columns).items():
                shares[f"{query_kind}-to-{key_kind}"] = self._share(measure, queries, keys)
        return shares

    def orders(self, measure: Measure) -> dict[str, float | None]:
        """Return the shares from each order to each order, such as "1-to-2"."""
        return {
            f"{query.partition or query.order}-to-{key.partition or key.order}": self._share(
                measure, [m], [n]
            )
            for m, query in enumerate(self.layout.rows)
            for n, key in enumerate(self.layout.all_columns)
        }

    def focus(self) -> dict[str, float | None]:
        """Return the entropy and the largest weight of a query, as means over queries and heads.

        "entropy" is in nats. None: there was no query.
        """
        count = float(self.sums.rows.sum())
        parts = {"entropy": self.sums.entropy, "largest": self.sums.largest}
        return {name: float(part.sum()) / count if count else None for name, part in parts.items()}

    @property
    def has_kinds(self) -> bool:
        """Whether queries or keys are of several kinds; otherwise shares are trivial."""
        return len(self.layout.rows) > 1 or len(self.layout.all_columns) > 1

    def _share(self, measure: Measure, queries: list[int], keys: list[int]) -> float | None:
        if measure == "mass":
            part, whole = self.sums.mass, self.sums.rows[queries].sum()
        else:
            part, whole = self.sums.strongest, self.sums.positions
        return float(part[np.ix_(queries, keys)].sum() / whole) if whole else None


def _tokens_and_phrases(units: Sequence[Units]) -> dict[str, list[int]]:
    """Return the indices of "token" and "phrase" units; a kind without units is left out."""
    kinds = ["token" if unit == TOKENS else "phrase" for unit in units]
    return {
        kind: [place for place, own in enumerate(kinds) if own == kind]
        for kind in ("token", "phrase")
        if kind in kinds
    }


class FeatureRows(NamedTuple):
    """A feature of all sentences.

    Attributes:
        rows: the integers of each sentence, EOS included.
        pad: their value at padding.
    """

    rows: Sequence[Sequence[int]]
    pad: int


def attention_statistics(
    model: Any,
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    *,
    batch_size: int = 4096,
    xla: bool | None = None,
    progress: Callable[[int], None] | None = None,
    features: Mapping[str, FeatureRows] | None = None,
) -> list[LayerStatistics]:
    """Return the statistics of every attention, teacher-forced over pairs.

    Args:
        model: an `EncoderDecoder`.
        pairs: ids of source and target, each with EOS at the end.
        batch_size: tokens of the longer side in one batch, including padding.
        xla: see `compile.compiled`.
        progress: called after each batch with the number of pairs done so far.
        features: those that the model reads, by name.
    """
    maps = model.attention_maps()
    layouts = {
        (attention, place): layout
        for attention, attention_map in maps.items()
        for place, layout in enumerate(attention_map.layouts)
    }
    of_segments = any(units.partition for layout in layouts.values() for units in layout.rows)

    def run(features: Any) -> Any:
        weights = model.attention_weights(features)
        source, target = padding_mask(features["inputs"]), padding_mask(features["targets"])
        partitions = model.partitions(features) if of_segments else {}
        return [
            block_sums(
                weights[attention][place],
                layout,
                source if maps[attention].rows == "source" else target,
                partitions,
            )
            for (attention, place), layout in layouts.items()
        ]

    step, done = compiled(run, variables=model.variables, xla=xla), 0
    totals = [
        Sums(
            np.zeros((m, n)), np.zeros(m), np.zeros((m, n)), np.zeros(()), np.zeros(m), np.zeros(m)
        )
        for m, n in ((len(v.rows), len(v.all_columns)) for v in layouts.values())
    ]
    for batch in make_batches([max(map(len, pair)) for pair in pairs], batch_size):
        read = {
            name: batch.rows([pair[side] for pair in pairs])
            for side, name in enumerate(("inputs", "targets"))
        }
        read.update({name: batch.rows(own.rows, own.pad) for name, own in (features or {}).items()})
        for total, sums in zip(totals, step(read), strict=True):
            for whole, part in zip(total, sums, strict=True):
                whole += np.asarray(part)
        done += len(batch.lines)
        if progress is not None:
            progress(done)
    return [
        LayerStatistics(attention, maps[attention].title, place + 1, layout, total)
        for ((attention, place), layout), total in zip(layouts.items(), totals, strict=True)
    ]
