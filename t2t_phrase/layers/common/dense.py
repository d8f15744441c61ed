"""A dense map whose bias is faster to train."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.bias import add_bias


@keras.saving.register_keras_serializable(package="t2t_phrase")
class Dense(keras.layers.Dense):
    """`keras.layers.Dense` with a bias, whose gradient is that of `ops.bias.add_bias`.

    Arguments, weights and results are those of Keras' layer.
    """

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Map (..., width) to (..., units)."""
        # Custom gradients are for tensors, and `convert_to_tensor` returns variables as they are.
        bias = ops.cast(self.bias, self.bias.dtype)
        x = add_bias(ops.matmul(inputs, self.kernel), bias)
        return x if self.activation is None else self.activation(x)
