"""A linear map for each head."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.initializers import kernel_initializer


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeadDense(keras.layers.Layer):
    """A separate linear map for each of several heads, computed in one product.

    Shapes: B batch, G heads, N positions, W width of the inputs.

    Args:
        num_heads: G.
        units: width of the outputs.
        initializer_gain: scale of the initial variance of the kernels.

    Call arguments:
        x: (B, G, N, W) float.

    Returns:
        (B, G, N, units).

    Example:
        ```python
        x = keras.random.normal((2, 4, 7, 16))
        y = t2t_phrase.layers.HeadDense(num_heads=4, units=32)(x)  # (2, 4, 7, 32)
        ```
    """

    def __init__(
        self,
        *,
        num_heads: int,
        units: int,
        initializer_gain: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_heads = num_heads
        self.units = units
        self.initializer_gain = initializer_gain

    def build(self, x_shape: Any) -> None:
        """Create the kernels."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=(self.num_heads, x_shape[-1], self.units),
            initializer=self._initial_kernels,
        )
        self.built = True

    def _initial_kernels(self, shape: Any, dtype: Any = None) -> Any:
        # Keras would treat the first axis as that of a filter and scale by it.
        gain = self.initializer_gain
        return ops.stack([kernel_initializer(gain)(shape[1:], dtype) for _ in range(shape[0])])

    def call(self, x: Any) -> Any:
        """Multiply each head's vectors by its kernel."""
        return ops.einsum("bgnw,gwu->bgnu", x, ops.cast(self.kernel, self.compute_dtype))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "units": self.units,
            "initializer_gain": self.initializer_gain,
        }
