"""An attention to the source with one more head, which reads the aligned position."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.ops.hard_attention import hard_attention


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AlignedAttention(ImplicitMasks, keras.layers.Layer):
    """Any cross-attention with H heads, and an alignment head beside them.

    Alkhouli et al. (2018), Section 3.1. The weights of the alignment head are 1 at the source
    position a_i that target position i is aligned with and 0 elsewhere; like every head it reads a
    projection of the memory, d_k wide, and has its own rows in the output map:

        output_i = [head_1,i; ...; head_H,i; head_A,i] [W_O; W_A]
                 = attention(query, memory)_i + (memory_{a_i} W_V,A) W_A

    The second form needs no knowledge of the attention that it extends. W_A starts at zero, so a
    model with all other weights from a trained model initially computes the same as that model.

    The layer follows the protocol of `MultiHeadAttention`, for a memory that does not change.
    `align` adds the aligned positions of the queries to the projected memory.

    Shapes: B batch, T queries, S memory positions, D `hidden_size`, d_k `head_size`, K beams.

    Args:
        attention: follows the protocol of `MultiHeadAttention`.
        hidden_size: D, width of the inputs and of the output.
        head_size: d_k, width of the alignment head.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float.
        alignment: (B, T) int, the memory position that each query is aligned with; a position
            outside the memory means that the query is aligned with nothing.
        attention_mask: bool, broadcastable to (B, H, T, S); True = may attend. It does not affect
            the alignment head.
        training: whether dropout is active; the alignment head has none.
        query_positions: passed on to `attention` where rows hold several sentences.
        memory_positions: likewise.

    Returns:
        (output, weights): (B, T, D), and the weights of `attention`, whose layout is this layer's.

    Example:
        ```python
        attention = t2t_phrase.layers.AlignedAttention(
            attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            hidden_size=64,
            head_size=16,
        )
        query, memory = keras.random.normal((2, 3, 64)), keras.random.normal((2, 7, 64))
        alignment = ops.array([[0, 2, 1], [4, 4, -1]])  # -1: aligned with nothing
        output, weights = attention(query, memory, alignment)  # (2, 3, 64), (2, 4, 3, 7)
        ```
    """

    implicit_masks = (("memory", ATTENTION),)

    def __init__(
        self, *, attention: keras.layers.Layer, hidden_size: int, head_size: int, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.attention = attention
        self.hidden_size = hidden_size
        self.head_size = head_size
        shared = {"use_bias": False, "dtype": self.dtype_policy}
        self.value_map = Dense(
            head_size, kernel_initializer=kernel_initializer(), name="value", **shared
        )
        self.output_map = Dense(hidden_size, kernel_initializer="zeros", name="output", **shared)

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        return self.attention.layout

    def build(
        self, query_shape: Any, memory_shape: Any = None, alignment_shape: Any = None
    ) -> None:
        """Create the weights of the attention and of the alignment head."""
        build_once(self.attention, query_shape, memory_shape or query_shape)
        self.value_map.build((*query_shape[:-1], self.hidden_size))
        self.output_map.build((*query_shape[:-1], self.head_size))
        self.built = True

    def call(
        self,
        query: Any,
        memory: Any,
        alignment: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        query_positions: Any | None = None,
        memory_positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory and to its aligned position."""
        projected = self.align(self.project_memory(memory, memory_positions), alignment)
        return self.attend(
            query,
            projected,
            attention_mask,
            training=training,
            query_positions=query_positions,
            memory_positions=memory_positions,
        )

    def project_memory(self, memory: Any, memory_positions: Any | None = None) -> Cache:
        """Return the projected memory (B, S, D), which `align` completes for queries."""
        positions = given(memory_positions=memory_positions)
        return {
            "attention": self.attention.project_memory(memory, **positions),
            "value": self.value_map(memory),  # (B, S, d_k)
        }

    def align(self, projected: Cache, alignment: Any) -> Cache:
        """Return the projected memory for queries that are aligned with `alignment` (B, T)."""
        return {**projected, "alignment": alignment}

    def attend(
        self,
        query: Any,
        projected: Cache,
        attention_mask: Any | None = None,
        training: bool = False,
        query_positions: Any | None = None,
        memory_positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Attend from (B, T, D) queries to a memory that `align` prepared."""
        output, weights = self.attention.attend(
            query,
            projected["attention"],
            attention_mask,
            training=training,
            **given(query_positions=query_positions, memory_positions=memory_positions),
        )
        return output + self._aligned(projected), weights

    def start_queries(self, batch_size: Any, beam_size: int) -> Cache:
        """Return the state that `attend_step` keeps of earlier queries."""
        return self.attention.start_queries(batch_size, beam_size)

    def attend_step(
        self, query: Any, queries: Cache, index: Any, projected: Cache, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Attend from the current token of every beam to a memory that `align` prepared.

        Arguments and result are those of `MultiHeadAttention.attend_step`.
        """
        output, weights, queries = self.attention.attend_step(
            query, queries, index, projected["attention"], attention_mask
        )
        return output + self._aligned(projected), weights, queries

    def reorder_queries(self, queries: Cache, parents: Any) -> Cache:
        """Return the state of `attend_step` for beams that continue `parents` (B, K)."""
        return self.attention.reorder_queries(queries, parents)

    def _aligned(self, projected: Cache) -> Any:
        """Return the alignment head's contribution to the output, (B, T, D)."""
        return self.output_map(hard_attention(projected["value"], projected["alignment"]))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "hidden_size": self.hidden_size,
            "head_size": self.head_size,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AlignedAttention:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
