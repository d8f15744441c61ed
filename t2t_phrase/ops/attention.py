"""Scaled dot-product attention as pure functions.

Shapes: B batch, T queries, S memory positions, D hidden size, H heads, $d_k = D / H$. Queries are
(B, T, H, d_k); keys are (B, H, d_k, S) and values (B, H, S, d_k), so that no product has to
transpose them while decoding.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.compile import within_xla

# Large enough to vanish in a float32 softmax, small enough to be added to any logit.
MASKED = -1e9


def split_heads(x: Any, num_heads: int) -> Any:
    """Return (B, T, D) as (B, T, H, d_k)."""
    batch, length, width = ops.shape(x)
    return ops.reshape(x, (batch, length, num_heads, width // num_heads))


def split_key_heads(x: Any, num_heads: int) -> Any:
    """Return (B, S, D) as (B, H, d_k, S)."""
    return ops.transpose(split_heads(x, num_heads), (0, 2, 3, 1))


def split_value_heads(x: Any, num_heads: int) -> Any:
    """Return (B, S, D) as (B, H, S, d_k)."""
    return ops.transpose(split_heads(x, num_heads), (0, 2, 1, 3))


def merge_heads(x: Any) -> Any:
    """Return (B, T, H, d_k) as (B, T, D)."""
    batch, length, heads, width = ops.shape(x)
    return ops.reshape(x, (batch, length, heads * width))


def attention_logits(query: Any, key: Any) -> Any:
    """Return query-key dot products, (B, H, T, S).

    Args:
        query: (B, T, H, d_k), already scaled.
        key: (B, H, d_k, S).
    """
    if _takes_einsum(query.shape[1]):
        return ops.einsum("bthd,bhds->bhts", query, key)
    return ops.matmul(ops.transpose(query, (0, 2, 1, 3)), key)


def attention_weights(logits: Any, mask: Any | None) -> Any:
    """Return the softmax of `logits` over the last axis, in float32.

    A row with nothing to attend to gives zeros; a plain softmax would average over its masked
    positions.

    Args:
        logits: (B, H, T, S).
        mask: bool, broadcastable to (B, H, T, S); True = may attend. None = everywhere.
    """
    logits = ops.cast(logits, "float32")
    if mask is None:
        return _softmax(logits)
    # Adding a small mask broadcasts cheaply; selecting would build the whole (B, H, T, S) mask.
    allowed, masked = (ops.convert_to_tensor(x, "float32") for x in (0.0, MASKED))
    weights = _softmax(logits + ops.where(mask, allowed, masked))
    return weights * ops.cast(ops.any(mask, axis=-1, keepdims=True), "float32")


def _softmax(logits: Any) -> Any:
    """Return the softmax over the last axis, even over a single position."""
    if logits.shape[-1] == 1:
        # `ops.softmax` would warn, but short sentences have only one segment.
        return ops.exp(ops.log_softmax(logits, axis=-1))
    return ops.softmax(logits, axis=-1)


def heads_product(x: Any, maps: Any) -> Any:
    """Return (B, H S, W): each head's part of `x` times that head's map, one head after another.

    Args:
        x: (B, S, D), the heads concatenated.
        maps: (H, d_k, W).
    """
    batch, length, _ = ops.shape(x)
    heads, width, units = maps.shape
    by_head = ops.transpose(ops.reshape(x, (batch * length, heads, width)), (1, 0, 2))
    products = ops.reshape(ops.matmul(by_head, maps), (heads, batch, length, units))
    return ops.reshape(ops.transpose(products, (1, 0, 2, 3)), (batch, heads * length, units))


def attention_context(weights: Any, value: Any) -> Any:
    """Return the weighted sums of the values, (B, T, H, d_k).

    Args:
        weights: (B, H, T, S).
        value: (B, H, S, d_k).
    """
    weights = ops.cast(weights, value.dtype)
    if _takes_einsum(weights.shape[2]):
        return ops.einsum("bhts,bhsd->bthd", weights, value)
    return ops.transpose(ops.matmul(weights, value), (0, 2, 1, 3))


def _takes_einsum(queries: int | None) -> bool:
    """Return whether einsum is faster for the products of this many queries.

    It is where operations run one by one and queries are few: their number is known in a decoding
    step, but not in training, where the gradient of einsum is slow.
    """
    return queries is not None and not within_xla()
