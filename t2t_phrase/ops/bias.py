"""Adding one vector to every position."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.row_sum import row_sum


def add_bias(x: Any, bias: Any) -> Any:
    """Return x + bias, of the type of `x`; `row_sum` computes the gradient of the bias.

    Args:
        x: (..., D) float, D known.
        bias: (D,) float.
    """

    @ops.custom_gradient
    def add(x: Any, bias: Any) -> Any:
        def gradient(*args: Any, upstream: Any = None) -> Any:
            # TensorFlow passes the gradient of the output by position, JAX by name.
            passed = args[0] if upstream is None else upstream
            return passed, ops.cast(row_sum(passed), bias.dtype)

        return ops.add(x, ops.cast(bias, x.dtype)), gradient

    return add(x, bias)
