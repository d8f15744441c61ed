"""One layer of the encoder."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import keras

from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks, Masks
from t2t_phrase.layers.common.residual import Residual
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers


@keras.saving.register_keras_serializable(package="t2t_phrase")
class EncoderLayer(ImplicitMasks, keras.layers.Layer):
    """Self-attention, then the feed-forward network, each in a residual connection.

    Vaswani et al. (2017), Section 3.1.

    Args:
        self_attention: a layer that follows the protocol of `MultiHeadAttention`.
        feed_forward: maps (B, S, D) to (B, S, D).
        norm: "pre" or "post", see `Residual`.
        dropout: probability of dropping an output of a sublayer, in [0, 1).

    Call arguments:
        x: (B, S, D) float.
        attention_mask: bool, broadcastable to (B, H, S, S); True = may attend.
        training: whether dropout is active.
        positions: (B, S) int, the position of each token in its sentence where rows hold several,
            which the mask keeps apart; None: each row is a sentence.

    Returns:
        (output (B, S, D), attention weights).

    Example:
        ```python
        layer = t2t_phrase.layers.EncoderLayer(
            self_attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        ids = keras.Input((None,), dtype="int32")
        x = keras.layers.Embedding(100, 64, mask_zero=True)(ids)  # (None, None, 64)
        x, weights = layer(x)  # (None, None, 64), (None, 4, None, None)
        encoder = keras.Model(ids, x)
        ```
    """

    implicit_masks: ClassVar[Masks] = (("x", ATTENTION),)

    def __init__(
        self,
        *,
        self_attention: keras.layers.Layer,
        feed_forward: FeedForward,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.self_attention = self_attention
        self.feed_forward = feed_forward
        self.norm = norm
        self.dropout = dropout
        shared = {"norm": norm, "dropout": dropout, "dtype": self.dtype_policy}
        self.attention_residual = Residual(name="self_attention_residual", **shared)
        self.feed_forward_residual = Residual(name="feed_forward_residual", **shared)

    def build(self, x_shape: Any) -> None:
        """Create the weights of all sublayers."""
        build_once(self.self_attention, x_shape, x_shape)
        build_once(self.feed_forward, x_shape)
        self.attention_residual.build(x_shape)
        self.feed_forward_residual.build(x_shape)
        self.built = True

    def call(
        self,
        x: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Apply both sublayers."""
        normed = self.attention_residual.before(x)
        attended, weights = self.self_attention(
            normed,
            normed,
            attention_mask=attention_mask,
            training=training,
            **given(query_positions=positions, memory_positions=positions),
        )
        x = self.attention_residual(x, attended, training=training)
        return self.feed(x, training=training), weights

    def feed(self, x: Any, training: bool = False) -> Any:
        """Apply the second sublayer to `x` (..., D)."""
        fed = self.feed_forward(self.feed_forward_residual.before(x), training=training)
        return self.feed_forward_residual(x, fed, training=training)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "self_attention": serialize(self.self_attention),
            "feed_forward": serialize(self.feed_forward),
            "norm": self.norm,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> EncoderLayer:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
