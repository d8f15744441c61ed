"""Layer normalisation."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.layer_norm import layer_norm

# As in tensor2tensor.
EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LayerNorm(keras.layers.Layer):
    """Normalisation of every position, see `ops.layer_norm`.

    `keras.layers.LayerNormalization` computes the same but takes longer to train. Scale and offset
    are at least float32 under every dtype policy, and so are computations with them.

    Args:
        epsilon: added to the variance.

    Call arguments:
        x: (..., D) float.

    Returns:
        (..., D) of the policy's compute dtype.

    Example:
        ```python
        x = keras.random.normal((2, 7, 64), dtype="bfloat16")
        y = t2t_phrase.layers.LayerNorm(dtype="mixed_bfloat16")(x)  # (2, 7, 64)
        ```
    """

    def __init__(self, *, epsilon: float = EPSILON, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.autocast = False
        self.supports_masking = True

    def build(self, x_shape: Any) -> None:
        """Create the scale `gamma` and the offset `beta`, each (D,)."""
        dtype = keras.backend.result_type(self.variable_dtype, "float32")
        shared = {"shape": (x_shape[-1],), "dtype": dtype, "autocast": False}
        self.gamma = self.add_weight(name="gamma", initializer="ones", **shared)
        self.beta = self.add_weight(name="beta", initializer="zeros", **shared)
        self.built = True

    def call(self, x: Any) -> Any:
        """Normalise every position."""
        # Custom gradients need tensors, and `convert_to_tensor` returns variables unchanged.
        scale, offset = (ops.cast(weight, weight.dtype) for weight in (self.gamma, self.beta))
        x = ops.convert_to_tensor(x)
        if keras.backend.result_type(x.dtype, scale.dtype) != scale.dtype:
            # Arrays of NumPy are float64.
            x = ops.cast(x, scale.dtype)
        normed = layer_norm(x, scale, offset, epsilon=self.epsilon)
        return ops.cast(normed, self.compute_dtype)

    def compute_output_shape(self, x_shape: Any) -> Any:
        """Return the shape of the input."""
        return x_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "epsilon": self.epsilon}
