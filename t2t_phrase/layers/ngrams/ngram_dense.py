"""A linear map of n-grams."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.ngrams import unfold
from t2t_phrase.ops.product import product


@keras.saving.register_keras_serializable(package="t2t_phrase")
class NgramDense(keras.layers.Layer):
    """Maps each n-gram, indexed by its last token, by one matrix: $Conv_n(X, W)$.

        y_j = sum_{t=0}^{n-1} x_{j-n+1+t} W_t,    x_j = 0 for j < 0

    Nguyen and Joty (2018), Eq. (4); order 1 is a dense map. No bias. The kernel is initialised
    uniformly with variance $g / (n D)$, so with a gain g of 1 the outputs have the variance of the
    inputs for every order and any number of heads.

    Shapes: B batch, S positions, D width of the input, D' `units`.

    Args:
        order: n, at least 1.
        units: D'.
        initializer_gain: g.

    Call arguments:
        x: (B, S, D) float.

    Returns:
        (B, S, D') float.

    Raises:
        ValueError: `order` is below 1.

    Example:
        ```python
        x = keras.random.normal((2, 7, 64))
        trigrams = t2t_phrase.layers.NgramDense(order=3, units=32)(x)  # (2, 7, 32)
        ```
    """

    def __init__(
        self, *, order: int, units: int, initializer_gain: float = 1.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if order < 1:
            raise ValueError(f"order must be at least 1, got {order}.")
        self.order = order
        self.units = units
        self.initializer_gain = initializer_gain

    def build(self, x_shape: Any) -> None:
        """Create the kernel (n, D, D')."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=(self.order, x_shape[-1], self.units),
            initializer=keras.initializers.VarianceScaling(
                scale=self.initializer_gain, mode="fan_in", distribution="uniform"
            ),
        )
        self.built = True

    def call(self, x: Any) -> Any:
        """Map the n-grams that end at each position."""
        return self.map_windows(unfold(x, self.order))

    def map_windows(self, windows: Any) -> Any:
        """Map single n-grams (..., n D), their tokens side by side, to (..., D')."""
        # On a CPU, forward and backward pass together are faster than with a convolution.
        return product(ops.cast(windows, self.compute_dtype), self.kernel)

    def compute_output_shape(self, x_shape: Any) -> tuple[Any, ...]:
        """Return the shape of the result."""
        return (*x_shape[:-1], self.units)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "order": self.order,
            "units": self.units,
            "initializer_gain": self.initializer_gain,
        }
