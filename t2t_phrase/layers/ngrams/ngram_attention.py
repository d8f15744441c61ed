"""Attention over n-grams, composed of a structure and a method."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import keras
from keras import ops

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks
from t2t_phrase.layers.ngrams.method import Method
from t2t_phrase.layers.ngrams.ngram_context import (
    LatestTokens,
    NgramContext,
    WholeSentences,
)
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.layers.ngrams.ngram_distances import NgramDistances
from t2t_phrase.layers.ngrams.structure import Structure
from t2t_phrase.ops.attention import attention_context, attention_weights, merge_heads
from t2t_phrase.ops.blocks import add_block
from t2t_phrase.ops.position import positions, positions_at
from t2t_phrase.ops.rows import take_rows


class NgramAttention(ImplicitMasks, keras.layers.Layer):
    """Base of attention over n-grams: keeps the weights and follows the attention protocol.

    Nguyen and Joty (2018). The protocol and the masks, over tokens, are those of
    `MultiHeadAttention`. A subclass names the classes of the two parts that it is composed of:

    - a structure, which deals heads to orders and joins the orders into one softmax:
      `Homogeneous` (Section 3.2.1), `Heterogeneous` (3.2.2) or `Interleaved` (3.3);
    - a method, which makes keys and logits: `ConvKV` (Eq. 5) or `QueryK` (Eq. 6).

    The values are $Conv_n(V, W_v,n)$, Eq. (4), in all of them.

    While decoding, each token adds keys and values to the history: those of the n-grams that end
    with the token, except that QueryK adds the keys of the token alone. The tokens that later
    n-grams reach back to are kept for each beam; only these move when beams are reordered.

    Shapes: B batch, T queries, S memory positions, D `hidden_size`, H `num_heads`, $d_k = D / H$, N
    the number of orders, K beams, L longest output.

    Args:
        num_heads: H, a divisor of `hidden_size`.
        hidden_size: D, width of the inputs and of the output.
        orders: orders of the n-grams, ascending.
        dropout: probability of dropping an attention weight, in [0, 1).
        initializer_gain: scale of the initial variance of the maps of queries, keys and values;
            fairseq's is 0.5.
        max_relative_position: the distance between the last tokens of the two n-grams beyond which
            all distances are alike, see `NgramDistances`; 0 = no relative positions.
        **kwargs: the subclass's `options`, and those of `keras.layers.Layer`.

    Attributes:
        structure_class: class of the structure, set by the subclass.
        method_class: class of the method, set by the subclass.
        options: names of the further fields of structure and method that the constructor takes.
            Models pass those that they know: `head_counts`, `look_ahead` and
            `share_key_projection`.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float; pass `query` again for self-attention.
        attention_mask: bool over tokens, broadcastable to (B, H, T, S); True = may attend.
        training: whether dropout is active.
        query_positions: (B, T) int, where rows hold several sentences, which the mask keeps apart:
            the position of each query in its sentence; None: each row is a sentence.
        memory_positions: (B, S) int, likewise for the memory.

    Returns:
        (output, weights): (B, T, D), and float32 before dropout, in the layout of the structure.

    Raises:
        ValueError: `hidden_size` is not a multiple of `num_heads`, or `orders` are not ascending
            numbers from 1 on.
    """

    structure_class: ClassVar[type[Structure]]
    method_class: ClassVar[type[Method]]
    options: ClassVar[tuple[str, ...]] = ()

    implicit_masks = (("memory", ATTENTION),)

    def __init__(
        self,
        *,
        num_heads: int,
        hidden_size: int,
        orders: Sequence[int],
        dropout: float = 0.0,
        initializer_gain: float = 1.0,
        max_relative_position: int = 0,
        **kwargs: Any,
    ) -> None:
        given = {name: kwargs.pop(name) for name in self.options if name in kwargs}
        super().__init__(**kwargs)
        self.supports_masking = True
        if num_heads < 1 or hidden_size < 1 or hidden_size % num_heads:
            raise ValueError(
                "hidden_size must be a multiple of num_heads, both at least 1, got "
                f"{hidden_size} and {num_heads}."
            )
        if not orders or min(orders) < 1 or list(orders) != sorted(set(orders)):
            raise ValueError(
                f"orders must be strictly ascending integers, each at least 1, got {tuple(orders)}."
            )
        self.num_heads = num_heads
        self.hidden_size = hidden_size
        self.orders = tuple(orders)
        self.dropout = dropout
        self.initializer_gain = initializer_gain
        self.max_relative_position = max_relative_position
        self.head_size = hidden_size // num_heads
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy)
        # Loaded from a file, a tuple is a list.
        given = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items()}
        fields = {field.name: field for field in dataclasses.fields(self.structure_class)}
        for name in self.options:
            if name in fields and fields[name].default is dataclasses.MISSING and name not in given:
                raise TypeError(f"{type(self).__name__}() missing required argument: '{name}'")
        self.structure = self.structure_class(
            self.num_heads,
            self.head_size,
            self.orders,
            **{name: value for name, value in given.items() if name in fields},
        )
        self.method = self.method_class(
            self.structure, **{name: value for name, value in given.items() if name not in fields}
        )
        for name in self.options:
            setattr(self, name, getattr(self.structure if name in fields else self.method, name))

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        return self.structure.layout

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Create all maps."""
        structure, method, gain = self.structure, self.method, self.initializer_gain
        self.query_maps = [
            self._map(f"query_{order}", order, method.query_width, gain)
            for order in structure.query_orders
        ]
        self.key_maps = [self._map(*key_map, gain) for key_map in method.key_maps]
        self.value_maps = [
            self._map(f"value_{order}", order, heads * self.head_size, gain)
            for order, heads in zip(self.orders, structure.heads_by_order, strict=True)
        ]
        self.output_map = self._map("output", structure.output_order, self.hidden_size)
        for dense in (*self.query_maps, *self.key_maps, *self.value_maps, self.output_map):
            dense.build((None, None, self.hidden_size))
        self.distances = None
        if self.max_relative_position:
            self.distances = NgramDistances(
                max_relative_position=self.max_relative_position,
                key_widths=method.key_widths,
                value_width=self.head_size,
                dtype=self.dtype_policy,
                name="distances",
            )
            self.distances.build()
        self.built = True

    def _map(self, name: str, order: int, units: int, gain: float = 1.0) -> NgramDense:
        return NgramDense(
            order=order, units=units, initializer_gain=gain, dtype=self.dtype_policy, name=name
        )

    def call(
        self,
        query: Any,
        memory: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        query_positions: Any | None = None,
        memory_positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory."""
        return self.attend(
            query,
            self.project_memory(memory, memory_positions),
            attention_mask,
            training=training,
            query_positions=query_positions,
            memory_positions=memory_positions,
        )

    def project_memory(self, memory: Any, memory_positions: Any | None = None) -> Cache:
        """Return the keys and values of all n-grams of a memory (B, S, D)."""
        return self._project(memory, self._context(memory_positions))

    def _context(self, places: Any | None) -> NgramContext:
        """Return the context of rows of one sentence, or of several, with `places` (B, S) int."""
        # N-grams that begin before their sentence are masked, unless they reach back to zeros.
        return WholeSentences(places if self.layout.reaches_back else None)

    def attend(
        self,
        query: Any,
        projected: Cache,
        attention_mask: Any | None = None,
        training: bool = False,
        query_positions: Any | None = None,
        memory_positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Attend from (B, T, D) queries to a memory that `project_memory` prepared."""
        return self._attend(
            query,
            self._context(query_positions),
            projected,
            attention_mask,
            positions(ops.shape(query)[1]),
            packed=(query_positions, memory_positions),
            training=training,
        )

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the history before the first of `length` tokens.

        Raises:
            ValueError: the layer looks ahead, which is impossible while decoding.
        """
        if not self.structure.can_decode:
            raise ValueError("an attention with look_ahead=True cannot decode token by token.")
        entries, structure = length * beam_size, self.structure
        before = (batch_size, self.num_heads, *structure.joined_orders)
        shapes = {
            **self.method.key_shapes(batch_size, entries),
            "value": (*before, entries, self.head_size),
        }
        history = {name: ops.zeros(shape, self.compute_dtype) for name, shape in shapes.items()}
        count = max(self.orders) - 1
        return {"history": history, "recent": self._no_tokens(batch_size, beam_size, count)}

    def step(
        self, query: Any, cache: Cache, index: Any, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Add each beam's token and the n-grams ending in it to the history, and attend to that.

        Arguments and result are those of `MultiHeadAttention.step`.
        """
        beam_size = ops.shape(query)[1]
        context = LatestTokens(cache["recent"])
        new = self._project(query, context)
        history = {}
        for name, kept in cache["history"].items():
            # Positions are the last axis of keys, and the last but one of values.
            axis = len(kept.shape) - (2 if name == "value" else 1)
            history[name] = add_block(kept, new[name], index, axis=axis)
        now = positions_at(index, beam_size)
        output, weights = self._attend(
            query, context, history, attention_mask, now, is_history=True
        )
        return output, weights, {"history": history, "recent": context.next}

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Return the cache for new beams, which continue the beams `parents` (B, K)."""
        return {**cache, "recent": _follow(cache["recent"], parents)}

    def start_queries(self, batch_size: Any, beam_size: int) -> Cache:
        """Return the state that `attend_step` keeps of earlier queries."""
        return self._no_tokens(batch_size, beam_size, max(self.structure.query_orders) - 1)

    def _no_tokens(self, batch_size: Any, beam_size: int, count: int) -> Cache:
        """Return zeros for the `count` tokens of each beam that n-grams reach back to."""
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
        now = positions_at(index, ops.shape(query)[1])
        output, weights = self._attend(query, context, projected, attention_mask, now)
        return output, weights, context.next

    def reorder_queries(self, queries: Cache, parents: Any) -> Cache:
        """Return the state of `attend_step` for new beams, see `reorder`."""
        return _follow(queries, parents)

    def _project(self, memory: Any, context: NgramContext) -> Cache:
        values = [context.convolve(memory, dense) for dense in self.value_maps]
        return {
            **self.method.make_keys(memory, self.key_maps, context),
            "value": self.structure.join_values(values),
        }

    def _attend(
        self,
        query: Any,
        context: NgramContext,
        projected: Cache,
        attention_mask: Any | None,
        query_positions: Any,
        *,
        is_history: bool = False,
        packed: tuple[Any | None, Any | None] = (None, None),
        training: bool = False,
    ) -> tuple[Any, Any]:
        structure = self.structure
        by_order = [context.convolve(query, dense) for dense in self.query_maps]
        rows = ops.concatenate(by_order, axis=1) if len(by_order) > 1 else by_order[0]
        if is_history:
            beam_size = ops.shape(query)[1]
            logits = self.method.history_logits(rows, projected, attention_mask)
        else:
            beam_size = 1
            logits = self.method.logits(rows, projected)
        length = ops.shape(projected["value"])[-2]
        distance = None
        if self.distances is not None:
            ends = ops.concatenate([query_positions] * len(by_order), axis=0)
            # Distances within a sentence, the only ones that count, equal those within its row.
            distance = self.distances.between(ends, positions(length, beam_size))
            queries = self.method.queries(rows)
            logits += structure.join_logits(self.distances.logits(queries, distance))
        in_sentences, memory_positions = packed
        if in_sentences is None:
            in_sentences = query_positions
        mask = structure.mask(attention_mask, in_sentences, length, beam_size, memory_positions)
        weights = attention_weights(logits, mask)
        dropped = self.weight_dropout(weights, training=training)
        result = attention_context(dropped, structure.read_values(projected["value"]))
        if self.distances is not None:
            found = self.distances.context(structure.split_weights(dropped), distance)
            result += structure.join_context(found)
        return structure.output(merge_heads(result), self.output_map, context), weights

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "hidden_size": self.hidden_size,
            "orders": self.orders,
            "dropout": self.dropout,
            "initializer_gain": self.initializer_gain,
            "max_relative_position": self.max_relative_position,
            **{name: getattr(self, name) for name in self.options},
        }


def _follow(recent: Cache, parents: Any) -> Cache:
    """Return each of `recent` (B, K, ...) for beams that continue `parents`."""
    return {name: take_rows(kept, parents) for name, kept in recent.items()}
