"""Adding one vector to every position."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.own_gradient import own_gradient
from t2t_phrase.ops.row_sum import row_sum


def add_bias(x: Any, bias: Any) -> Any:
    """Return x + bias, of the type of `x`; the gradient of the bias is not summed in that type.

    A sum in bfloat16 stops growing at 256 times its terms, and JAX would make one.

    Args:
        x: (..., D) float, D known.
        bias: (D,) float, or the biases of heads, (H, 1, D), for x (..., H, N, D).
    """

    # TensorFlow's function with its own gradient must not read a variable.
    bias = ops.cast(bias, bias.dtype)

    @own_gradient
    def add(x: Any, bias: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            return upstream, ops.cast(_summed(upstream, bias.shape), bias.dtype)

        return ops.add(x, ops.cast(bias, x.dtype)), gradient

    return add(x, bias)


def _summed(x: Any, shape: Any) -> Any:
    """Return the sum of x over all axes along which a bias of this shape is repeated."""
    if len(shape) == 1:
        return row_sum(x)
    repeated = len(x.shape) - len(shape)
    ones = [repeated + axis for axis, size in enumerate(shape) if size == 1]
    found = ops.sum(ops.cast(x, "float32"), axis=(*range(repeated), *ones))
    return ops.reshape(found, shape)
