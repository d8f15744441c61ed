"""Global attention that is biased by the alignment of the target."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.luong.attentional_vector import AttentionalVector, Cache
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.hard_attention import hard_attention
from t2t_phrase.ops.position import positions
from t2t_phrase.ops.scores import window_context


@keras.saving.register_keras_serializable(package="t2t_phrase")
class BiasedAttention(AttentionalVector):
    """`GlobalAttention` whose score knows which source position the next token is aligned with.

    A vector b is added to the key of the aligned position a_t. With the score "concat":

        score(h_t, h_s) = v^T tanh(W_1 h_t + W_2 h_s + [s = a_t] b)

    This is our form of the bias that Alkhouli et al. (2018) take from Alkhouli and Ney (2017) for
    their recurrent models. b starts at zero, so a model with all other weights from a trained model
    initially computes the same as that model.

    `align` adds the aligned positions of the queries to the projected memory.

    Args:
        score: a score that compares states with keys, such as `ConcatScore`; `LocationScore` has
            no keys.
        **kwargs: as for `AttentionalVector`.

    Call arguments are those of `AttentionalVector`, and:
        alignment: (B, T) int, the memory position that each query is aligned with; a position
            outside the memory means that the query is aligned with nothing.

    Raises:
        ValueError: the score has no keys.

    Example:
        ```python
        score = t2t_phrase.layers.ConcatScore()
        attention = t2t_phrase.layers.BiasedAttention(units=32, score=score)
        query, memory = keras.random.normal((2, 3, 32)), keras.random.normal((2, 7, 32))
        alignment = ops.array([[0, 2, 1], [4, 4, -1]])  # -1: aligned with nothing
        hidden, weights = attention(query, memory, alignment)  # (2, 3, 32), (2, 1, 3, 7)
        ```
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not self.score.scores_windows:
            raise ValueError(f"{type(self.score).__name__} has no keys to be biased.")

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Create the weights of `AttentionalVector` and b."""
        super().build(query_shape, memory_shape)
        self.bias = self.add_weight(
            name="bias", shape=(self.score.key_width(memory_shape[-1]),), initializer="zeros"
        )

    def call(  # type: ignore[override]
        self,
        query: Any,
        memory: Any,
        alignment: Any,
        attention_mask: Any | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory."""
        projected = self.align(self.project_memory(memory), alignment)
        return self.attend(query, projected, attention_mask, training=training)

    def align(self, projected: Cache, alignment: Any) -> Cache:
        """Return the projected memory for queries that are aligned with `alignment` (B, T)."""
        return {**projected, "alignment": alignment}

    def at_time(self, projected: Cache, index: Any) -> Cache:
        """Return the projected memory for the query at time `index` of a whole sentence."""
        now = ops.take(projected["alignment"], ops.reshape(index, (1,)), axis=1)
        return self.align(projected, now)

    def attend_at(
        self, query: Any, projected: Cache, attention_mask: Any | None, places: Any
    ) -> tuple[Any, Any]:
        """Weigh all positions."""
        del places
        memory, alignment = projected["memory"], projected["alignment"]
        keys: Any = projected.get("key", memory)
        length = ops.shape(memory)[1]
        projected_query = self.score.project_query(query)
        logits = self.score.logits(projected_query, keys, length)
        # Only the key of the aligned position differs, so only that is scored again.
        shifted = add_bias(hard_attention(keys, alignment), self.bias)  # (B, T, A)
        biased = self.score.logits(projected_query, shifted[:, :, None], 1)  # (B, T, 1)
        aligned = ops.equal(ops.cast(alignment, "int32")[..., None], positions(length))
        logits = ops.where(aligned, biased, logits)
        weights = attention_weights(logits[:, None], attention_mask)
        return window_context(weights[:, 0], memory), weights
