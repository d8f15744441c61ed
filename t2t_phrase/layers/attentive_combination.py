"""Tokens look phrases up, and a small network joins what they find with what they are."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.encoder_layer import build_once, deserialize_sublayers
from t2t_phrase.layers.feed_forward import half_kernel_initializer, kernel_initializer
from t2t_phrase.layers.multi_head_attention import Cache


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AttentiveCombination(keras.layers.Layer):
    """The attentive combination network.

    Xu et al. (2020), Eq. (7) and (8):

        found = attention(x, phrases)
        output = W_4 sigmoid(W_3 [x | found] + b_3) + b_4

    The halves of W_3 are two maps, so that [x | found] is never built.

    Differs from the paper: its text takes x for the keys and phrases for queries and values, which
    would give one output for each phrase; as in its Figure 2 and its "cross-attention to phrases",
    the tokens x are the queries here, phrases the keys and values.

    Shapes: B batch, T tokens, P phrases, D `hidden_size`, H heads.

    Args:
        attention: a layer that follows the protocol of `MultiHeadAttention`.
        hidden_size: D, width of inputs and output.
        units: width between the two maps.
        dropout: probability of dropping an activation of the inner layer, in [0, 1).

    Call arguments:
        x: (B, T, D) float.
        phrases: (B, P, D) float.
        phrase_mask: bool, broadcastable to (B, H, T, P); True = may attend. None = everywhere.
        training: whether dropout is active.

    Returns:
        (output (B, T, D), attention weights (B, H, T, P)).
    """

    def __init__(
        self,
        *,
        attention: keras.layers.Layer,
        hidden_size: int,
        units: int,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.attention = attention
        self.hidden_size = hidden_size
        self.units = units
        self.dropout = dropout
        half = {
            "kernel_initializer": half_kernel_initializer(hidden_size, units),
            "dtype": self.dtype_policy,
        }
        self.token_map = keras.layers.Dense(units, name="token", **half)
        self.phrase_map = keras.layers.Dense(units, use_bias=False, name="phrase", **half)
        self.outer_map = keras.layers.Dense(
            hidden_size,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="outer",
        )
        self.inner_dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, x_shape: Any, phrases_shape: Any = None) -> None:
        """Create all maps."""
        build_once(self.attention, x_shape, phrases_shape or x_shape)
        self.token_map.build((None, self.hidden_size))
        self.phrase_map.build((None, self.hidden_size))
        self.outer_map.build((None, self.units))
        self.built = True

    def call(
        self, x: Any, phrases: Any, phrase_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Let every token look up the phrases."""
        return self.attend(x, self.project_memory(phrases), phrase_mask, training=training)

    def project_memory(self, phrases: Any) -> Cache:
        """Return what `attend` reads of phrases (B, P, D)."""
        return self.attention.project_memory(phrases)

    def attend(
        self, x: Any, projected: Cache, phrase_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Look up phrases that `project_memory` prepared."""
        found, weights = self.attention.attend(x, projected, phrase_mask, training=training)
        inner = ops.sigmoid(self.token_map(x) + self.phrase_map(found))  # (B, T, units)
        return self.outer_map(self.inner_dropout(inner, training=training)), weights

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "hidden_size": self.hidden_size,
            "units": self.units,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttentiveCombination:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
