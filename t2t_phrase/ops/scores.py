"""Luong's attention scores as pure functions.

Luong et al. (2015), Section 3.1. Shapes: B batch, T queries, S memory positions, N positions of a
window, U width of the decoder's states, A width of queries and keys, P positions with a score.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.attention import MASKED


def dot_logits(query: Any, keys: Any) -> Any:
    """Return the dot products of queries and keys.

    Args:
        query: (B, T, A).
        keys: (B, S, A), the same for every query, or (B, T, N, A), those of each query's window.

    Returns:
        (B, T, S) or (B, T, N).
    """
    equation = "bta,bsa->bts" if len(keys.shape) == 3 else "bta,btna->btn"
    return ops.einsum(equation, query, keys)


def additive_logits(query: Any, keys: Any, vector: Any) -> Any:
    """Return $v^T tanh(q_t + k_s)$ in float32.

    Gradients of queries are sums over s of terms that nearly cancel, since those of the softmax sum
    to 0; rounded to bfloat16, the terms would leave noise.

    Args:
        query: (B, T, A).
        keys: (B, S, A) or (B, T, N, A), see `dot_logits`.
        vector: v, (A,).

    Returns:
        (B, T, S) or (B, T, N).
    """
    query, keys, vector = (ops.cast(x, "float32") for x in (query, keys, vector))
    keys = keys[:, None] if len(keys.shape) == 3 else keys
    return ops.matmul(ops.tanh(query[:, :, None] + keys), vector[:, None])[..., 0]


def location_logits(scores: Any, length: Any) -> Any:
    """Return the first S of P scores; positions from P on cannot be attended to.

    Args:
        scores: (B, T, P) float.
        length: S; a number, or a scalar where a graph is traced for rows of unknown length.

    Returns:
        (B, T, S) float32.
    """
    place = ops.arange(length, dtype="int32")
    most = scores.shape[-1]
    found = ops.take(ops.cast(scores, "float32"), ops.minimum(place, most - 1), axis=-1)
    return ops.where(place < most, found, MASKED)


def window_context(weights: Any, values: Any) -> Any:
    """Return the weighted sums of the values, (B, T, A), in their type.

    Args:
        weights: (B, T, S) or (B, T, N) float32.
        values: (B, S, A) or (B, T, N, A), see `dot_logits`.
    """
    equation = "bts,bsa->bta" if len(values.shape) == 3 else "btn,btna->bta"
    return ops.einsum(equation, ops.cast(weights, values.dtype), values)
