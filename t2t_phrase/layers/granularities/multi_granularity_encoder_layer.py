"""One layer of the encoder whose self-attention has several granularities."""

from __future__ import annotations

from typing import Any, ClassVar

import keras

from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.implicit_masks import MaskArgument, Masks
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MultiGranularityEncoderLayer(EncoderLayer):
    """An encoder layer with `MultiGranularityAttention`.

    Args:
        **kwargs: as for `EncoderLayer`; `self_attention` is a `MultiGranularityAttention`.

    Call arguments:
        x: (B, S, D) float.
        membership: (B, N, P, S) bool, see `MultiGranularityAttention`.
        attention_mask: see `MultiGranularityAttention`.
        training: whether dropout is active.
        pairs: see `MultiGranularityAttention`.

    Returns:
        (output (B, S, D), attention weights (B, H, S, S), composed segments (B, G, P, d_k)).

    Example:
        ```python
        layer = t2t_phrase.layers.MultiGranularityEncoderLayer(
            self_attention=t2t_phrase.layers.MultiGranularityAttention(
                hidden_size=64,
                heads=("tokens", "phrases"),
                partitions=("phrases",),
                composition=t2t_phrase.layers.AttentionComposition(num_heads=1),
            ),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        phrases = ops.array([[[[1, 1, 0, 0], [0, 0, 1, 0]]]], "bool")  # (1, 1, 2, 4)
        x, mask = keras.random.normal((1, 4, 64)), ops.array([1, 1, 1, 0], "bool")
        output, *others = layer(x, phrases, attention_mask=mask)  # (1, 4, 64), ...
        weights, segments = others  # (1, 2, 4, 4), (1, 1, 2, 32)
        ```
    """

    implicit_masks: ClassVar[Masks] = (
        *EncoderLayer.implicit_masks,
        ("x", MaskArgument("membership", 4)),
    )

    def call(  # type: ignore[override]
        self,
        x: Any,
        membership: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        pairs: Any | None = None,
    ) -> tuple[Any, Any, Any]:
        """Apply both sublayers."""
        normed = self.attention_residual.before(x)
        attended, weights, segments = self.self_attention(
            normed,
            membership,
            attention_mask=attention_mask,
            training=training,
            **given(pairs=pairs),
        )
        x = self.attention_residual(x, attended, training=training)
        return self.feed(x, training=training), weights, segments
