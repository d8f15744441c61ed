"""The position-wise feed-forward network."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.initializers import kernel_initializer


@keras.saving.register_keras_serializable(package="t2t_phrase")
class FeedForward(keras.layers.Layer):
    """Two dense maps with a ReLU between: $max(0, x W_1 + b_1) W_2 + b_2$.

    Vaswani et al. (2017), Eq. (2).

    Args:
        hidden_size: D, width of input and output.
        filter_size: width between the two maps.
        dropout: probability of dropping an activation of the inner layer, in [0, 1).

    Call arguments:
        x: (B, T, D) float.
        training: whether dropout is active.

    Returns:
        (B, T, D) float.

    Example:
        ```python
        feed_forward = t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256, dropout=0.1)
        y = feed_forward(keras.random.normal((2, 7, 64)), training=True)  # (2, 7, 64)
        ```
    """

    def __init__(
        self, *, hidden_size: int, filter_size: int, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.hidden_size = hidden_size
        self.filter_size = filter_size
        self.dropout = dropout
        self.inner = Dense(
            filter_size,
            activation="relu",
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="inner",
        )
        self.outer = Dense(
            hidden_size,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="outer",
        )
        self.inner_dropout = Dropout(dropout, dtype=self.dtype_policy)

    def build(self, x_shape: Any) -> None:
        """Create the weights of both maps."""
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.filter_size))
        self.built = True

    def call(self, x: Any, training: bool = False) -> Any:
        """Apply both maps."""
        return self.outer(self.inner_dropout(self.inner(x), training=training))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "hidden_size": self.hidden_size,
            "filter_size": self.filter_size,
            "dropout": self.dropout,
        }
