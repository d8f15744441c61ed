"""A dense map whose bias is faster to train, and whose kernel may consist of 8-bit integers."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.product import product


@keras.saving.register_keras_serializable(package="t2t_phrase")
class Dense(keras.layers.Dense):
    """`keras.layers.Dense` with the product of `ops.product` and the bias gradient of `ops.bias`.

    Arguments, weights and results are those of Keras' layer.

    Example:
        ```python
        x = keras.random.normal((2, 7, 16))
        y = t2t_phrase.layers.Dense(32, activation="relu")(x)  # (2, 7, 32)
        ```
    """

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Map (..., width) to (..., units)."""
        x = product(inputs, self.kernel)
        if self.use_bias:
            x = add_bias(x, self.bias)
        return x if self.activation is None else self.activation(x)

    def load_own_variables(self, store: Any) -> None:
        """Load the weights that `keras.Model.save` has stored, with the product of LoRA in them.

        Keras then sets both factors to zero, so that neither would ever have a gradient; here, the
        first is drawn as in a new layer. The product remains zero.
        """
        super().load_own_variables(store)
        if self.lora_enabled:
            initializer = keras.initializers.HeUniform()
            self.lora_kernel_a.assign(initializer(self.lora_kernel_a.shape))
