"""A decoder layer whose cross-attention knows the aligned source positions."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.alignment.aligned_attention import AlignedAttention
from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.sublayers import build_once
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer, Positions


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AlignedDecoderLayer(DecoderLayer):
    """Self-attention, attention to the source with an alignment head, feed-forward network.

    Alkhouli et al. (2018), Figure 2. The weights of the extended attention have the same names as
    in a `DecoderLayer`, so that training can start from a run without alignments.

    Args:
        cross_attention: an `AlignedAttention`.
        **kwargs: as for `DecoderLayer`.

    Call arguments:
        x: (B, T, D) float.
        memory: (B, S, D) float, the encoder's output.
        alignment: (B, T) int, the source position that each target position is aligned with.
        attention_mask: bool, broadcastable to (B, H, T, T); True = may attend.
        memory_mask: bool, broadcastable to (B, H, T, S).
        training: whether dropout is active.
        positions: see `DecoderLayer`.

    Returns:
        (output (B, T, D), self-attention weights, cross-attention weights).

    Example:
        ```python
        self_attention = t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64)
        to_source = t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64)
        layer = t2t_phrase.layers.AlignedDecoderLayer(
            self_attention=self_attention,
            cross_attention=t2t_phrase.layers.AlignedAttention(
                attention=to_source, hidden_size=64, head_size=16
            ),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        x, memory = keras.random.normal((1, 3, 64)), keras.random.normal((1, 7, 64))
        causal = ops.arange(3)[:, None] >= ops.arange(3)
        alignment = ops.array([[0, 2, 1]])  # (1, 3)
        output, *weights = layer(x, memory, alignment, causal)  # (1, 3, 64), ...
        of_target, of_source = weights  # (1, 4, 3, 3), (1, 4, 3, 7)
        ```
    """

    cross_attention: AlignedAttention

    def build(self, x_shape: Any, memory_shape: Any = None, alignment_shape: Any = None) -> None:
        """Create the weights of all sublayers."""
        # Here, because a weight is named after the layers being built when it is created.
        build_once(self.cross_attention.attention, x_shape, memory_shape or x_shape)
        super().build(x_shape, memory_shape)

    def call(  # type: ignore[override]
        self,
        x: Any,
        memory: Any,
        alignment: Any,
        attention_mask: Any | None = None,
        memory_mask: Any | None = None,
        training: bool = False,
        positions: Positions | None = None,
    ) -> tuple[Any, Any, Any]:
        """Apply all sublayers to whole sentences."""
        x, weights = self.attend_self(x, attention_mask, training, positions)
        own, of_memory = (None, None) if positions is None else positions
        attended, cross_weights = self.cross_attention(
            self.cross_residual.before(x),
            memory,
            alignment,
            attention_mask=memory_mask,
            training=training,
            **given(query_positions=own, memory_positions=of_memory),
        )
        x = self.cross_residual(x, attended, training=training)
        return self.feed(x, training), weights, cross_weights

    def align(self, projected: Cache, alignment: Any) -> Cache:
        """Return the source inputs of `step` for tokens aligned with `alignment` (B, K).

        Args:
            projected: from `project_memory`.
            alignment: int, a source position for the current token of every beam.
        """
        return self.cross_attention.align(projected, alignment)
