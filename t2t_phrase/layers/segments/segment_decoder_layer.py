"""A decoder layer that attends to the segments of the source before its tokens."""

from __future__ import annotations

from typing import Any, ClassVar

import keras

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.implicit_masks import MaskArgument, Masks
from t2t_phrase.layers.common.residual import Residual
from t2t_phrase.layers.common.sublayers import build_once
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer, Positions


@keras.saving.register_keras_serializable(package="t2t_phrase")
class SegmentDecoderLayer(DecoderLayer):
    """Self-attention, combination with source segments, attention to the source, feed-forward.

    Xu et al. (2020), Figure 2.

    Args:
        combination: attends to the segments.
        **kwargs: as for `DecoderLayer`.

    Call arguments:
        x: (B, T, D) float.
        memory: (B, S, D) float, the encoder's output.
        segments: (B, P, D) float, the memory of segments for this layer.
        attention_mask: bool, broadcastable to (B, H, T, T); True = may attend.
        memory_mask: bool, broadcastable to (B, H, T, S).
        segment_mask: bool, broadcastable to (B, H, T, P).
        training: whether dropout is active.
        positions: see `DecoderLayer`.

    Returns:
        (output, weights, cross_weights, segment_weights): (B, T, D), and the weights of
        self-attention, cross-attention and attention to segments.

    Example:
        ```python
        attentions = [
            t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64) for _ in range(3)
        ]
        layer = t2t_phrase.layers.SegmentDecoderLayer(
            self_attention=attentions[0],
            combination=t2t_phrase.layers.AttentiveCombination(
                attention=attentions[1], hidden_size=64, units=128
            ),
            cross_attention=attentions[2],
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        x, causal = keras.random.normal((2, 5, 64)), ops.arange(5)[:, None] >= ops.arange(5)
        memory, segments = keras.random.normal((2, 7, 64)), keras.random.normal((2, 3, 64))
        output, *weights = layer(x, memory, segments, attention_mask=causal)  # (2, 5, 64), ...
        own, to_source, to_segments = weights  # (2, 4, 5, 5), (2, 4, 5, 7), (2, 4, 5, 3)
        ```
    """

    implicit_masks: ClassVar[Masks] = (
        *DecoderLayer.implicit_masks,
        ("segments", MaskArgument("segment_mask", 4)),
    )

    def __init__(self, *, combination: AttentiveCombination, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.combination = combination
        self.segment_residual = Residual(
            name="phrase_residual", norm=self.norm, dropout=self.dropout, dtype=self.dtype_policy
        )

    def build(self, x_shape: Any, memory_shape: Any = None, segments_shape: Any = None) -> None:
        """Create the weights of all sublayers."""
        build_once(self.combination, x_shape, segments_shape)
        self.segment_residual.build(x_shape)
        super().build(x_shape, memory_shape)

    def call(  # type: ignore[override]
        self,
        x: Any,
        memory: Any,
        segments: Any,
        attention_mask: Any | None = None,
        memory_mask: Any | None = None,
        segment_mask: Any | None = None,
        training: bool = False,
        positions: Positions | None = None,
    ) -> tuple[Any, Any, Any, Any]:
        """Apply all sublayers to whole sentences."""
        x, weights = self.attend_self(x, attention_mask, training, positions)
        combined, segment_weights = self.combination(
            self.segment_residual.before(x), segments, segment_mask=segment_mask, training=training
        )
        x = self.segment_residual(x, combined, training=training)
        x, cross_weights = self.attend_source(x, memory, memory_mask, training, positions)
        return self.feed(x, training), weights, cross_weights, segment_weights

    def project_memory(  # type: ignore[override]
        self, memory: Any, segments: Any, segment_mask: Any, folded: Cache | None = None
    ) -> Cache:
        """Return the projections of the encoder's output and the segments, for `step`.

        `folded`: see `AttentiveCombination`.
        """
        return {
            "source": super().project_memory(memory),
            "segments": self.combination.project_memory(segments, folded),
            "segment_mask": segment_mask,
        }

    def step(
        self,
        x: Any,
        cache: Cache,
        index: Any,
        *,
        projected: Cache,
        attention_mask: Any,
        memory_mask: Any,
    ) -> tuple[Any, dict[str, Any], Cache]:
        """Apply all sublayers to the current token of every beam; see `DecoderLayer.step`.

        The attention weights are "decoder", "decoder_phrases" and "cross".
        """
        x, self_weights, history = self.step_self(x, cache["self"], index, attention_mask)
        combined, segment_weights = self.combination.attend(
            self.segment_residual.before(x), projected["segments"], projected["segment_mask"]
        )
        x = self.segment_residual(x, combined)
        x, cross_weights, queries = self.step_source(
            x, cache["cross"], index, projected["source"], memory_mask
        )
        weights = {
            "decoder": self_weights,
            "decoder_phrases": segment_weights,
            "cross": cross_weights,
        }
        return self.feed(x), weights, {"self": history, "cross": queries}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {**super().get_config(), "combination": serialize(self.combination)}
