"""Dropout with 16 random bits for each decision."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.ops.dropout import dropout


@keras.saving.register_keras_serializable(package="t2t_phrase")
class Dropout(keras.layers.Layer):
    """A faster `keras.layers.Dropout`, see `ops.dropout`.

    Args:
        rate: probability of setting an element to 0, in [0, 1).

    Call arguments:
        x: (...) float.
        training: whether dropout is active.

    Returns:
        (...) of the type of `x`.

    Example:
        ```python
        dropout = t2t_phrase.layers.Dropout(0.1)
        y = dropout(ops.ones((2, 7, 64)), training=True)  # (2, 7, 64)
        ```
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be in [0, 1), got {rate}.")
        self.rate = rate
        if rate:
            self.seed_generator = keras.random.SeedGenerator()
        self.supports_masking = True
        self.built = True

    def call(self, x: Any, training: bool = False) -> Any:
        """Drop elements."""
        if not (training and self.rate):
            return x
        return dropout(x, self.rate, self.seed_generator.next())

    def compute_output_shape(self, x_shape: Any) -> Any:
        """Return the shape of the input."""
        return x_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "rate": self.rate}
