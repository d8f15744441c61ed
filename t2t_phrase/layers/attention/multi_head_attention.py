"""Multi-head attention, and the protocol that all attention layers follow."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.ops.attention import (
    attention_context,
    attention_logits,
    attention_weights,
    merge_heads,
    split_heads,
    split_key_heads,
    split_value_heads,
)
from t2t_phrase.ops.blocks import add_block

Cache = dict[str, Any]
# The axes of the positions.
_TIME_AXES = {"key": 3, "value": 2}


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MultiHeadAttention(ImplicitMasks, keras.layers.Layer):
    """Multi-head scaled dot-product attention.

    Vaswani et al. (2017), Eq. (1) and Section 3.2.2:

        head_i = softmax(Q_i K_i^T / sqrt(d_k) + M) V_i
        output = [head_1; ...; head_H] W_O

    with $M = 0$ where `attention_mask` is True and a large negative number elsewhere. No map has a
    bias. The softmax runs in float32 under every dtype policy. A query that may attend to nothing
    gets zeros.

    All attention layers follow the same protocol. A memory that does not change while decoding is
    projected once, by `project_memory`, and read by `attend`, or by `attend_step` where a query
    depends on earlier queries, whose state `start_queries` creates. A growing history is kept in a
    cache: `start_cache` creates it, and `step` adds one token of every beam and attends to the
    history. The history itself is never reordered; the mask tells from which of its K entries at
    each time a beam descends. State that depends on the order of the beams is moved by `reorder`
    and `reorder_queries`. `layout` describes the weights.

    Shapes: B batch, T queries, S memory positions, D `hidden_size`, H `num_heads`, $d_k = D / H$,
    K beams, L longest output.

    Args:
        num_heads: H, a divisor of `hidden_size`.
        hidden_size: D, width of the inputs and of the output.
        dropout: probability of dropping an attention weight, in [0, 1).
        initializer_gain: scale of the initial variance of the maps of queries, keys and values;
            fairseq's is 0.5.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float; pass `query` again for self-attention.
        attention_mask: bool, broadcastable to (B, H, T, S); True = may attend. None = everywhere.
        training: whether dropout is active.
        query_positions: (B, T) int, where rows hold several sentences, which the mask keeps apart:
            the position of each query in its sentence. An attention that needs only the mask and
            distances within a sentence, like this one, does not read them.
        memory_positions: (B, S) int, likewise for the memory.

    Returns:
        (output, weights): (B, T, D), and (B, H, T, S) float32 before dropout.

    Raises:
        ValueError: `hidden_size` is not a multiple of `num_heads`.

    Example:
        ```python
        attention = t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64)
        query, memory = keras.random.normal((2, 5, 64)), keras.random.normal((2, 7, 64))
        lengths = ops.array([7, 4])
        mask = (ops.arange(7) < lengths[:, None])[:, None, None]  # (2, 1, 1, 7)
        output, weights = attention(query, memory, attention_mask=mask)  # (2, 5, 64), (2, 4, 5, 7)
        # While decoding, the memory is projected only once.
        projected = attention.project_memory(memory)
        first, weights = attention.attend(query[:, :1], projected, mask)  # (2, 1, 64), (2, 4, 1, 7)
        ```
    """

    implicit_masks = (("memory", ATTENTION),)

    def __init__(
        self,
        *,
        num_heads: int,
        hidden_size: int,
        dropout: float = 0.0,
        initializer_gain: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if num_heads < 1 or hidden_size < 1 or hidden_size % num_heads:
            raise ValueError(
                "hidden_size must be a multiple of num_heads, both at least 1, got "
                f"{hidden_size} and {num_heads}."
            )
        self.num_heads = num_heads
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.initializer_gain = initializer_gain
        self.head_size = hidden_size // num_heads
        self.query_map = self._map("query", initializer_gain)
        self.key_map = self._map("key", initializer_gain)
        self.value_map = self._map("value", initializer_gain)
        self.output_map = self._map("output")
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy)

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        return Layout(num_heads=self.num_heads)

    def _map(self, name: str, gain: float = 1.0) -> Dense:
        return Dense(
            self.hidden_size,
            use_bias=False,
            kernel_initializer=kernel_initializer(gain),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Create the four maps."""
        for dense in (self.query_map, self.key_map, self.value_map, self.output_map):
            dense.build((*query_shape[:-1], self.hidden_size))
        self.built = True

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
        del query_positions, memory_positions
        return self.attend(query, self.project_memory(memory), attention_mask, training=training)

    def project_memory(self, memory: Any, memory_positions: Any | None = None) -> Cache:
        """Return the keys (B, H, d_k, S) and values (B, H, S, d_k) of a memory (B, S, D)."""
        del memory_positions
        return {
            "key": split_key_heads(self.key_map(memory), self.num_heads),
            "value": split_value_heads(self.value_map(memory), self.num_heads),
        }

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
        del query_positions, memory_positions
        scale = ops.cast(self.head_size**-0.5, self.compute_dtype)
        query = split_heads(self.query_map(query) * scale, self.num_heads)  # (B, T, H, d_k)
        weights = attention_weights(self.logits(query, projected), attention_mask)
        dropped = self.weight_dropout(weights, training=training)
        context = self.context(dropped, projected)  # (B, T, H, d_k)
        return self.output_map(merge_heads(context)), weights

    def logits(self, query: Any, projected: Cache) -> Any:
        """Return (B, H, T, S) from scaled queries (B, T, H, d_k) and the projected memory."""
        return attention_logits(query, projected["key"])

    def context(self, weights: Any, projected: Cache) -> Any:
        """Return (B, T, H, d_k) from weights (B, H, T, S) and the projected memory."""
        return attention_context(weights, projected["value"])

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return an empty history of L (`length`) tokens: keys and values of L * K positions."""
        entries, width = length * beam_size, self.head_size
        shapes = {"key": (width, entries), "value": (entries, width)}
        return {
            name: ops.zeros((batch_size, self.num_heads, *shape), self.compute_dtype)
            for name, shape in shapes.items()
        }

    def step(
        self, query: Any, cache: Cache, index: Any, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Add one token of every beam to the history and attend to it.

        Args:
            query: (B, K, D), the current token of every beam.
            cache: the history so far.
            index: the current time, 0 <= index < L.
            attention_mask: (B, 1, K, L * K) from `ops.masks.history_mask`.

        Returns:
            (output, weights, cache): (B, K, D), (B, H, K, L * K), and the longer history.
        """
        cache = self.remember(query, cache, index)
        output, weights = self.attend(query, cache, attention_mask)
        return output, weights, cache

    def remember(self, query: Any, cache: Cache, index: Any) -> Cache:
        """Return the history with one more token of every beam, see `step`."""
        new = self.project_memory(query)
        return {
            name: add_block(cache[name], new[name], index, axis=axis)
            for name, axis in _TIME_AXES.items()
        }

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Return the cache for new beams, which continue the beams `parents` (B, K).

        Nothing here depends on the order of the beams; an attention that keeps more than the
        history overrides this.
        """
        del parents
        return cache

    def start_queries(self, batch_size: Any, beam_size: int) -> Cache:
        """Return the state that `attend_step` keeps of earlier queries: none here."""
        del batch_size, beam_size
        return {}

    def attend_step(
        self, query: Any, queries: Cache, index: Any, projected: Cache, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Attend from the current token of every beam to a memory that does not change.

        Args:
            query: (B, K, D), the current token of every beam.
            queries: from `start_queries`, `attend_step` or `reorder_queries`.
            index: the current time.
            projected: from `project_memory`.
            attention_mask: bool, broadcastable to (B, H, K, S).

        Returns:
            (output, weights, queries): (B, K, D), (B, H, K, S), and the state of the queries so
            far for the next call.
        """
        del index
        output, weights = self.attend(query, projected, attention_mask)
        return output, weights, queries

    def reorder_queries(self, queries: Cache, parents: Any) -> Cache:
        """Return the state of `attend_step` for new beams, see `reorder`."""
        del parents
        return queries

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "hidden_size": self.hidden_size,
            "dropout": self.dropout,
            "initializer_gain": self.initializer_gain,
        }
