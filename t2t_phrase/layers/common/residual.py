"""The wrapper around every sublayer: normalisation, dropout, and the residual connection."""

from __future__ import annotations

from typing import Any, Literal

import keras

from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.layer_norm import LayerNorm
from t2t_phrase.layers.common.sublayers import build_once


@keras.saving.register_keras_serializable(package="t2t_phrase")
class Residual(keras.layers.Layer):
    """The residual connection around a sublayer f, in two halves.

        pre-norm:   y = x + dropout(f(norm(x)))
        post-norm:  y = norm(x + dropout(f(x)))

    `before` returns the input of the sublayer, and a call takes the sublayer's output:

    ```python
    y = residual(x, f(residual.before(x)))
    ```

    Args:
        norm: "pre" (tensor2tensor's `transformer_base`) or "post" (Vaswani et al., 2017).
        dropout: probability of dropping an output of the sublayer, in [0, 1).

    Call arguments:
        x: (B, T, D) float, the input of the sublayer before normalisation.
        output: (B, T, D) float, the output of the sublayer.
        training: whether dropout is active.

    Returns:
        (B, T, D) float.

    Raises:
        ValueError: `norm` is neither "pre" nor "post".

    Example:
        ```python
        residual = t2t_phrase.layers.Residual(norm="pre", dropout=0.1)
        sublayer = keras.layers.Dense(64, activation="relu")
        x = keras.random.normal((2, 7, 64))
        y = residual(x, sublayer(residual.before(x)), training=True)  # (2, 7, 64)
        ```
    """

    def __init__(
        self, *, norm: Literal["pre", "post"], dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", got {norm!r}.')
        self.norm = norm
        self.dropout = dropout
        self.normalize = LayerNorm(dtype=self.dtype_policy, name="norm")
        self.output_dropout = Dropout(dropout, dtype=self.dtype_policy)

    def build(self, x_shape: Any, output_shape: Any = None) -> None:
        """Create the normalisation's scale and offset."""
        self.normalize.build(x_shape)
        self.built = True

    def before(self, x: Any) -> Any:
        """Return the sublayer's input."""
        build_once(self, x.shape)
        return self.normalize(x) if self.norm == "pre" else x

    def call(self, x: Any, output: Any, training: bool = False) -> Any:
        """Return the sum of the sublayer's input and output."""
        y = x + self.output_dropout(output, training=training)
        return y if self.norm == "pre" else self.normalize(y)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "norm": self.norm, "dropout": self.dropout}
