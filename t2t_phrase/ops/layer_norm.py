"""Layer normalisation with its own gradient.

Shapes: N positions, D hidden size.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.own_gradient import own_gradient
from t2t_phrase.ops.row_sum import row_sum


def layer_norm(x: Any, scale: Any, offset: Any, *, epsilon: float) -> Any:
    """Return `x` normalised over its last axis, as in Ba et al. (2016).

        n = (x - mean(x)) / sqrt(var(x) + epsilon)
        y = scale * n + offset

    It is computed in at least float32. The gradient that backends derive takes more passes over
    memory than the one implemented here, which is, with $g = scale * dy$,

        dx = (g - mean(g) - n * mean(g * n)) / sqrt(var(x) + epsilon)

    Args:
        x: (..., D) float, D known.
        scale: (D,), at least float32.
        offset: (D,) of the type of `scale`.
        epsilon: added to the variance.

    Returns:
        (..., D) of the type of `x`.
    """
    dtype = keras.backend.result_type(x.dtype, scale.dtype)

    @own_gradient
    def normalize(x: Any, scale: Any, offset: Any) -> Any:
        centred = ops.cast(x, dtype)
        centred = centred - ops.mean(centred, axis=-1, keepdims=True)
        variance = ops.mean(centred * centred, axis=-1, keepdims=True)
        inverse = ops.rsqrt(variance + epsilon)
        normed = centred * inverse

        def gradient(upstream: Any) -> Any:
            passed = ops.cast(upstream, dtype)
            scaled = passed * scale
            x_grad = inverse * (
                scaled
                - ops.mean(scaled, axis=-1, keepdims=True)
                - normed * ops.mean(scaled * normed, axis=-1, keepdims=True)
            )
            return ops.cast(x_grad, x.dtype), row_sum(passed * normed), row_sum(passed)

        return ops.cast(normed * scale + offset, x.dtype), gradient

    return normalize(x, scale, offset)
