"""How much of a model's attention goes from and to tokens and phrases.

Nguyen and Joty (2018), Tables 3 and 4. Two measures:

- softmax mass: of what a query attends to, the share that lies on keys of each order; the mean over
  heads and over the queries of one order. All that go from one order of queries add up to 1.
- strongest activation: the share of positions whose largest weight, among those of all heads and of
  the query phrases of every order that end there, goes from and to such an order. Equal largest
  weights share the position. All of a layer add up to 1.

The paper speaks of a percentage of activations and does not define it. Each row of its tables adds
up to 100, with anything from 4 to 99 in the two columns of token queries together. Softmax gives
every query a mass of 1, and there are nearly as many phrases as tokens, so that of softmax mass
those two columns would hold close to 50. The second measure can give such rows, and adds up
likewise: it is the one to hold against them.

Shapes: B batch, H heads, T queries, S memory positions, M and N orders of queries and memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.insights.layouts import Layout, model_layouts, split_blocks
from t2t_phrase.ops.masks import padding_mask

Measure = Literal["mass", "strongest"]
QUADRANTS = ("token-to-token", "token-to-phrase", "phrase-to-token", "phrase-to-phrase")


class Sums(NamedTuple):
    """What adds up over batches.

    Attributes:
        mass: (M, N), the softmax mass on each order of keys, the mean over heads.
        rows: (M,), the number of queries.
        strongest: (M, N), the number of positions whose strongest activation lies there.
        positions: scalar, the number of positions.
    """

    mass: Any
    rows: Any
    strongest: Any
    positions: Any


def block_sums(weights: Any, layout: Layout, real: Any) -> Sums:
    """Return the sums over one batch of one layer's weights.

    Queries that are no phrase, since the sentence begins too late, count no more than padding does,
    nor do those that may attend to nothing.

    Args:
        weights: as the layer returns them, see `Layout`.
        layout: theirs.
        real: (B, T) bool, False at the padding of the queries.
    """
    heads, blocks = weights.shape[1], split_blocks(weights, layout)
    mass = ops.stack([ops.stack([ops.sum(b, (1, 3)) for b in row]) for row in blocks]) / heads
    peak = ops.stack([ops.stack([ops.max(b, (1, 3)) for b in row]) for row in blocks])
    # Both are (M, N, B, T).
    place = ops.arange(ops.shape(real)[1])
    exists = ops.stack([ops.logical_and(real, place >= m - 1) for m in layout.query_orders])
    exists = ops.logical_and(exists, ops.sum(mass, axis=1) > 0)[:, None]  # (M, 1, B, T)
    highest = ops.max(ops.where(exists, peak, -1.0), axis=(0, 1))  # (B, T)
    winners = ops.cast(ops.logical_and(exists, ops.equal(peak, highest)), "float32")
    votes = winners / ops.maximum(ops.sum(winners, axis=(0, 1)), 1.0)
    counted = ops.cast(exists, "float32")
    return Sums(
        mass=ops.sum(mass * counted, axis=(2, 3)),
        rows=ops.sum(counted, axis=(1, 2, 3)),
        strongest=ops.sum(votes, axis=(2, 3)),
        positions=ops.sum(ops.max(counted, axis=(0, 1))),
    )


@dataclasses.dataclass(frozen=True)
class LayerStatistics:
    """The sums over all sentences of one attention layer.

    Attributes:
        attention: one of `ATTENTIONS`.
        layer: from 1 on.
        layout: of its weights.
        sums: in float64.
    """

    attention: str
    layer: int
    layout: Layout
    sums: Sums

    def quadrants(self, measure: Measure) -> dict[str, float | None]:
        """Return the shares of the quadrants that the layer has, all orders above 1 in one.

        None stands for a share of no query: no sentence was long enough.
        """
        sides = (("token", lambda order: order == 1), ("phrase", lambda order: order > 1))
        shares = {}
        for query_kind, of_query in sides:
            for key_kind, of_key in sides:
                queries = [m for m, n in enumerate(self.layout.query_orders) if of_query(n)]
                keys = [place for place, n in enumerate(self.layout.key_orders) if of_key(n)]
                if queries and keys:
                    shares[f"{query_kind}-to-{key_kind}"] = self._share(measure, queries, keys)
        return shares

    def orders(self, measure: Measure) -> dict[str, float | None]:
        """Return the shares from each order to each order, named such as "1-to-2"."""
        return {
            f"{query_order}-to-{key_order}": self._share(measure, [m], [n])
            for m, query_order in enumerate(self.layout.query_orders)
            for n, key_order in enumerate(self.layout.key_orders)
        }

    def _share(self, measure: Measure, queries: list[int], keys: list[int]) -> float | None:
        if measure == "mass":
            part, whole = self.sums.mass, self.sums.rows[queries].sum()
        else:
            part, whole = self.sums.strongest, self.sums.positions
        return float(part[np.ix_(queries, keys)].sum() / whole) if whole else None


def attention_statistics(
    model: Any,
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    *,
    batch_size: int = 4096,
    xla: bool | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[LayerStatistics]:
    """Return the statistics of every attention that knows phrases, teacher-forced over pairs.

    Args:
        model: see `models.transformer.Transformer`.
        pairs: ids of source and target, EOS at their ends.
        batch_size: tokens of the longer side read at once, padding included.
        xla: see `compile.compiled`.
        progress: called after each batch with the number of pairs done so far.

    Raises:
        UserError: the model has an attention of a kind unknown here.
    """
    layouts = {
        (attention, place): layout
        for attention, stack in model_layouts(model).items()
        for place, layout in enumerate(stack)
        if layout.has_phrases
    }

    def run(features: Any) -> Any:
        weights = model.attention_weights(features)
        source, target = padding_mask(features["inputs"]), padding_mask(features["targets"])
        return [
            block_sums(
                weights[attention][place], layout, source if attention == "encoder" else target
            )
            for (attention, place), layout in layouts.items()
        ]

    step, done = compiled(run, variables=model.variables, xla=xla), 0
    totals = [
        Sums(np.zeros((m, n)), np.zeros(m), np.zeros((m, n)), np.zeros(()))
        for m, n in ((len(v.query_orders), len(v.key_orders)) for v in layouts.values())
    ]
    for batch in make_batches([max(map(len, pair)) for pair in pairs], batch_size):
        features = {
            name: batch.rows([pair[side] for pair in pairs])
            for side, name in enumerate(("inputs", "targets"))
        }
        for total, sums in zip(totals, step(features), strict=True):
            for whole, part in zip(total, sums, strict=True):
                whole += np.asarray(part)
        done += len(batch.lines)
        if progress is not None:
            progress(done)
    return [
        LayerStatistics(attention, place + 1, layout, total)
        for ((attention, place), layout), total in zip(layouts.items(), totals, strict=True)
    ]
