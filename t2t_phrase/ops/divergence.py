"""The divergence of two distributions over the vocabulary.

Shapes: N tokens, D hidden size, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def symmetric_divergence(first: Any, second: Any, kernel: Any) -> Any:
    """Return the mean of KL(p || q) and KL(q || p), (N,) float32, in nats.

        1/2 sum_v (p_v - q_v) (log p_v - log q_v)

    with p the softmax of `first @ kernel.T`, and q that of `second @ kernel.T`.

    Args:
        first: (N, D) float.
        second: (N, D) float.
        kernel: (V, D) float, of the same type.
    """
    matrix = ops.transpose(kernel)
    p, q = (
        ops.log_softmax(ops.cast(ops.matmul(hidden, matrix), "float32"), axis=-1)
        for hidden in (first, second)
    )
    return ops.sum((ops.exp(p) - ops.exp(q)) * (p - q), axis=-1) / 2
