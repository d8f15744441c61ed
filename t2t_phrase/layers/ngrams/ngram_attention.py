"""What all phrase attentions share: the protocol of attention, decoding, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.ngram_context import LatestTokens, NgramContext, WholeSentences
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.layers.ngrams.ngram_distances import NgramDistances
from t2t_phrase.ops.attention import attention_context, attention_weights, merge_heads
from t2t_phrase.ops.blocks import write_block


class NgramAttention(keras.layers.Layer):
    """Base of attention whose memory, and perhaps queries, are n-grams.

    Follows the protocol of `MultiHeadAttention`; masks are those over tokens that it takes. A
    structure says how orders are joined into one softmax: `Homogeneous`, `Heterogeneous`,
    `Interleaved`. A method says how logits arise: `ConvKV`, `QueryK`. A layer combines the two.

    While decoding, the keys and values of the phrases that end in a token are added to the history
    with it; the tokens that phrases reach back to are kept beam by beam, and only these move with
    the beams.

    Shapes: B batch, T queries, S memory positions, D `hidden_size`, H `num_heads`, d_k = D / H, N
    the number of orders, K beams, L longest output.

    Args:
        num_heads: H, a divisor of `hidden_size`.
        hidden_size: D, width of the inputs and of the output.
        orders: of the phrases, ascending.
        dropout: probability of dropping an attention weight, in [0, 1).
        max_relative_position: the distance between the ends of query and phrase beyond which all
            look alike, see `NgramDistances`; 0 = distances are not told apart.

    Raises:
        ValueError: `hidden_size` is not a multiple of `num_heads`, or `orders` are not ascending
            numbers from 1 on.
    """

    def __init__(
        self,
        *,
        num_heads: int,
        hidden_size: int,
        orders: Sequence[int],
        dropout: float = 0.0,
        max_relative_position: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if hidden_size % num_heads:
            raise ValueError(
                f"hidden_size must be a multiple of num_heads, got {hidden_size} and {num_heads}."
            )
        if not orders or min(orders) < 1 or list(orders) != sorted(set(orders)):
            raise ValueError(f"orders must be ascending numbers from 1 on, got {tuple(orders)}.")
        self.num_heads = num_heads
        self.hidden_size = hidden_size
        self.orders = tuple(orders)
        self.dropout = dropout
        self.max_relative_position = max_relative_position
        self.head_size = hidden_size // num_heads
        self.weight_dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    # What structures and methods define.

    @property
    def query_orders(self) -> tuple[int, ...]:
        """Orders of the query phrases."""
        return (1,)

    @property
    def heads_by_order(self) -> tuple[int, ...]:
        """How many heads attend to each of `orders`."""
        raise NotImplementedError

    @property
    def query_widths(self) -> tuple[int, ...]:
        """Width of all heads' queries to each of `orders`; fewer if several read the same."""
        raise NotImplementedError

    @property
    def key_widths(self) -> tuple[int, ...]:
        """Width of one head's key of each of `orders`."""
        raise NotImplementedError

    def make_key_maps(self) -> list[NgramDense]:
        """Return the maps that make the keys."""
        raise NotImplementedError

    def make_keys(self, memory: Any, context: NgramContext) -> Cache:
        """Return the keys of the phrases that end in each position of `memory` (B, S, D)."""
        raise NotImplementedError

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of what `make_keys` returns."""
        raise NotImplementedError

    def recent_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return by name what is kept of each token that phrases may reach back to."""
        return {"input": (max(self.orders) - 1, self.hidden_size)} if max(self.orders) > 1 else {}

    def split_queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, w_n), of `rows` (B, R, width)."""
        raise NotImplementedError

    def logits(self, rows: Any, projected: Cache) -> Any:
        """Return the logits over all orders of `rows` (B, R, width)."""
        raise NotImplementedError

    def share_query(self, query: Any) -> list[Any]:
        """Return what each order reads, (B, R, h_n, d_k), of queries (B, R, H, d_k) to all."""
        raise NotImplementedError

    def join_logits(self, by_order: list[Any]) -> Any:
        """Return the logits of all orders from those of each, (B, h_n, R, S)."""
        raise NotImplementedError

    def split_weights(self, weights: Any) -> list[Any]:
        """Return the weights of each order, (B, h_n, R, S): the inverse of `join_logits`."""
        raise NotImplementedError

    def join_context(self, by_order: list[Any]) -> Any:
        """Return (B, R, H, d_k) from what each order contributes, (B, R, h_n, d_k)."""
        raise NotImplementedError

    def join_memory(self, by_order: list[Any]) -> Any:
        """Return what is kept, (B, ..., S, d_k), of each order's (B, S, h_n d_k)."""
        raise NotImplementedError

    def joined_shape(self, batch_size: Any, length: Any) -> tuple[Any, ...]:
        """Return the shape of `join_memory`'s result."""
        raise NotImplementedError

    def read_memory(self, joined: Any) -> Any:
        """Return `join_memory`'s result as one softmax reads it, (B, H, S or N S, d_k)."""
        raise NotImplementedError

    def phrase_mask(
        self, attention_mask: Any | None, positions: Any, length: Any, beam_size: int
    ) -> Any | None:
        """Return the mask over phrases that a mask over tokens means."""
        raise NotImplementedError

    def make_output_map(self) -> NgramDense:
        """Return the map of all heads' results to the output."""
        return self.ngram_map("output", 1, self.hidden_size)

    def output(self, context: Any) -> Any:
        """Return (B, T, D) from the results of all heads and query orders, (B, R, D)."""
        return self.output_map(context)

    # What they share.

    def ngram_map(self, name: str, order: int, units: int) -> NgramDense:
        """Return a new map of n-grams."""
        return NgramDense(order=order, units=units, dtype=self.dtype_policy, name=name)

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Create all maps."""
        shape = (None, None, self.hidden_size)
        self.query_maps = [
            self.ngram_map(f"query_{order}", order, sum(self.query_widths))
            for order in self.query_orders
        ]
        self.key_maps = self.make_key_maps()
        self.value_maps = [
            self.ngram_map(f"value_{order}", order, heads * self.head_size)
            for order, heads in zip(self.orders, self.heads_by_order, strict=True)
        ]
        for dense in (*self.query_maps, *self.key_maps, *self.value_maps):
            dense.build(shape)
        self.output_map = self.make_output_map()
        self.output_map.build(shape)
        self.distances = None
        if self.max_relative_position:
            self.distances = NgramDistances(
                max_relative_position=self.max_relative_position,
                key_widths=self.key_widths,
                value_width=self.head_size,
                dtype=self.dtype_policy,
                name="distances",
            )
            self.distances.build()
        self.built = True

    def call(
        self, query: Any, memory: Any, attention_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory."""
        return self.attend(query, self.project_memory(memory), attention_mask, training=training)

    def project_memory(self, memory: Any) -> Cache:
        """Return the keys and values of all phrases of a memory (B, S, D)."""
        return self._project(memory, WholeSentences())

    def attend(
        self,
        query: Any,
        projected: Cache,
        attention_mask: Any | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend from (B, T, D) queries to a memory that `project_memory` prepared."""
        positions = ops.arange(ops.shape(query)[1])
        context = WholeSentences()
        return self._attend(query, context, projected, attention_mask, positions, training=training)

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the history before the first of `length` tokens."""
        shapes = self.key_shapes(batch_size, length * beam_size)
        shapes["value"] = self.joined_shape(batch_size, length * beam_size)
        history = {name: ops.zeros(shape, self.compute_dtype) for name, shape in shapes.items()}
        recent = {
            name: ops.zeros((batch_size, beam_size, *shape), self.compute_dtype)
            for name, shape in self.recent_shapes().items()
        }
        return {"history": history, "recent": recent}

    def step(
        self, query: Any, cache: Cache, index: Any, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Add one token of every beam, and the phrases it ends, to the history and attend to it.

        Arguments and result are those of `MultiHeadAttention.step`.
        """
        beam_size = query.shape[1]
        context = LatestTokens(cache["recent"])
        new = self._project(query, context)
        history = {
            name: write_block(kept, new[name], index, axis=len(kept.shape) - 2)
            for name, kept in cache["history"].items()
        }
        positions = ops.zeros((beam_size,), "int32") + index
        output, weights = self._attend(
            query, context, history, attention_mask, positions, beam_size=beam_size
        )
        return output, weights, {"history": history, "recent": context.next}

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams: `parents` (B, K) names the beam each new one continues."""
        return {**cache, "recent": _follow(cache["recent"], parents)}

    def start_queries(self, batch_size: Any, beam_size: int) -> Cache:
        """Return what `attend_step` has to know of earlier queries."""
        count = max(self.query_orders) - 1
        if not count:
            return {}
        shape = (batch_size, beam_size, count, self.hidden_size)
        return {"input": ops.zeros(shape, self.compute_dtype)}

    def attend_step(
        self, query: Any, queries: Cache, index: Any, projected: Cache, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Attend from the current token of every beam to a memory that does not change.

        Arguments and result are those of `MultiHeadAttention.attend_step`.
        """
        context = LatestTokens(queries)
        positions = ops.zeros((query.shape[1],), "int32") + index
        output, weights = self._attend(query, context, projected, attention_mask, positions)
        return output, weights, context.next

    def reorder_queries(self, queries: Cache, parents: Any) -> Cache:
        """Follow a change of beams, as `reorder` does."""
        return _follow(queries, parents)

    def _project(self, memory: Any, context: NgramContext) -> Cache:
        values = [context.convolve("input", memory, dense) for dense in self.value_maps]
        return {**self.make_keys(memory, context), "value": self.join_memory(values)}

    def _attend(
        self,
        query: Any,
        context: NgramContext,
        projected: Cache,
        attention_mask: Any | None,
        positions: Any,
        *,
        beam_size: int = 1,
        training: bool = False,
    ) -> tuple[Any, Any]:
        rows = [context.convolve("input", query, dense) for dense in self.query_maps]
        joined = ops.concatenate(rows, axis=1) if len(rows) > 1 else rows[0]
        logits = self.logits(joined, projected)
        length = ops.shape(projected["value"])[-2]
        distance = None
        if self.distances is not None:
            ends = ops.concatenate([positions] * len(rows), axis=0)
            distance = self.distances.between(ends, ops.arange(length) // beam_size)
            queries = self.split_queries(joined)
            logits += self.join_logits(self.distances.logits(queries, distance))
        mask = self.phrase_mask(attention_mask, positions, length, beam_size)
        weights = attention_weights(logits, mask)
        dropped = self.weight_dropout(weights, training=training)
        result = attention_context(dropped, self.read_memory(projected["value"]))
        if self.distances is not None:
            by_order = self.distances.context(self.split_weights(dropped), distance)
            result += self.join_context(by_order)
        return self.output(merge_heads(result)), weights

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "hidden_size": self.hidden_size,
            "orders": self.orders,
            "dropout": self.dropout,
            "max_relative_position": self.max_relative_position,
        }


def _follow(recent: Cache, parents: Any) -> Cache:
    """Return each of `recent`, (B, K, ...), as the beams that continue `parents` know it."""
    return {
        name: ops.take_along_axis(
            kept, ops.reshape(parents, (*ops.shape(parents), *[1] * (len(kept.shape) - 2))), axis=1
        )
        for name, kept in recent.items()
    }
