"""An encoder layer whose tokens attend to the segments of their sentence."""

from __future__ import annotations

from typing import Any, ClassVar

import keras

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.implicit_masks import MaskArgument, Masks
from t2t_phrase.layers.common.residual import Residual
from t2t_phrase.layers.common.sublayers import build_once
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer
from t2t_phrase.ops import partition


@keras.saving.register_keras_serializable(package="t2t_phrase")
class SegmentEncoderLayer(EncoderLayer):
    """Attentive combination with segments, then self-attention, then the feed-forward network.

    Xu et al. (2020), Figure 2. The layer pools the segments from its own input; with norm="pre",
    from its normalised input, which the combination reads too. So the memories of all layers, which
    the decoder mixes, have the same scale.

    Args:
        pooling: a layer that follows the protocol of `MeanPooling`.
        combination: attends to the segments.
        **kwargs: as for `EncoderLayer`.

    Call arguments:
        x: (B, S, D) float.
        membership: (B, P, S) bool, which tokens each segment contains, see `ops.partition`.
        attention_mask: bool, broadcastable to (B, H, S, S); True = may attend.
        folded: see `AttentiveCombination`.
        training: whether dropout is active.
        segment_mask: bool, broadcastable to (B, H, S, P); None: tokens may attend to all segments.
        positions: see `EncoderLayer`.

    Returns:
        (output, weights, segments, segment_weights, pooling_weights): (B, S, D), the self-attention
        weights, (B, P, D), the weights of the attention to segments (B, H, S, P), and those of the
        pooling (B, P, S).

    Example:
        ```python
        layer = t2t_phrase.layers.SegmentEncoderLayer(
            pooling=t2t_phrase.layers.MeanPooling(),
            combination=t2t_phrase.layers.AttentiveCombination(
                attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
                hidden_size=64,
                units=128,
            ),
            self_attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        x = keras.random.normal((1, 5, 64))
        membership = ops.array([[[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]], "bool")  # (1, 2, 5)
        output, weights, *of_segments = layer(x, membership)  # (1, 5, 64), (1, 4, 5, 5), ...
        segments, to_segments, pooling_weights = of_segments  # (1, 2, 64), (1, 4, 5, 2), (1, 2, 5)
        ```
    """

    implicit_masks: ClassVar[Masks] = (
        *EncoderLayer.implicit_masks,
        ("x", MaskArgument("membership", 3)),
    )

    def __init__(
        self, *, pooling: keras.layers.Layer, combination: AttentiveCombination, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.pooling = pooling
        self.combination = combination
        self.segment_residual = Residual(
            name="phrase_residual", norm=self.norm, dropout=self.dropout, dtype=self.dtype_policy
        )

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create the weights of all sublayers."""
        build_once(self.pooling, x_shape)
        build_once(self.combination, x_shape)
        self.segment_residual.build(x_shape)
        super().build(x_shape)

    def call(  # type: ignore[override]
        self,
        x: Any,
        membership: Any,
        attention_mask: Any | None = None,
        folded: Cache | None = None,
        training: bool = False,
        segment_mask: Any | None = None,
        positions: Any | None = None,
    ) -> tuple[Any, Any, Any, Any, Any]:
        """Apply all sublayers."""
        if segment_mask is None:
            segment_mask = partition.segment_mask(membership)
        normed = self.segment_residual.before(x)
        segments, pooling_weights = self.pooling(normed, membership)
        combined, segment_weights = self.combination(
            normed,
            segments,
            segment_mask=segment_mask,
            folded=folded,
            training=training,
        )
        x = self.segment_residual(x, combined, training=training)
        x, weights = super().call(
            x, attention_mask=attention_mask, training=training, positions=positions
        )
        return x, weights, segments, segment_weights, pooling_weights

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "pooling": serialize(self.pooling),
            "combination": serialize(self.combination),
        }
