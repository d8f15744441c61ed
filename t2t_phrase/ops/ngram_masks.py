"""Masks over n-grams, derived from masks over tokens. True = may attend.

An n-gram of order n is indexed by its last token j, and exists if $j >= n - 1$. A query may attend
to an n-gram if it may attend to the last token: with padding on the right, with a causal mask, and
where rows hold several sentences, it may then attend to the other tokens too.

Shapes: B batch, H heads, T queries, S memory positions, N and M orders of memory and queries, K
beams. Token masks are broadcastable to (B, H, T, S).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keras import ops

from t2t_phrase.ops.position import positions


def ngram_memory_mask(
    attention_mask: Any | None,
    orders: Sequence[int],
    length: Any,
    beam_size: int = 1,
    *,
    memory_positions: Any | None = None,
) -> Any:
    """Return a mask broadcastable to (B, H, T, N S), one block of S columns for each order.

    Args:
        attention_mask: mask over tokens, with a last axis of S; None = everywhere.
        orders: orders of the n-grams in the memory.
        length: S.
        beam_size: number of entries at each position, see `ops.masks.history_mask`.
        memory_positions: (B, S) int, where rows hold several sentences, which the mask keeps apart:
            the position of each token in its sentence. None: each row is a sentence.

    Example:
        ```python
        from t2t_phrase.ops.ngram_masks import ngram_memory_mask

        real = np.array([[True, True, True, False]])[:, None, None]  # (1, 1, 1, 4)
        mask = ngram_memory_mask(real, orders=(1, 2), length=4)  # (1, 1, 1, 8)
        of_bigrams = mask[0, 0, 0, 4:]  # [False, True, True, False]
        ```
    """
    if memory_positions is None:
        position = positions(length, beam_size)
        exists = ops.stack([position >= order - 1 for order in orders])  # (N, S)
    else:
        of_orders = [memory_positions >= order - 1 for order in orders]
        exists = ops.stack(of_orders, axis=1)[:, None, None]  # (B, 1, 1, N, S)
    if attention_mask is None:
        batch = 1 if memory_positions is None else ops.shape(memory_positions)[0]
        return ops.reshape(exists, (batch, 1, 1, len(orders) * length))
    attention_mask = with_all_axes(attention_mask)
    mask = ops.logical_and(ops.expand_dims(attention_mask, -2), exists)  # (B, H, T, N, S)
    batch, heads, queries, *_ = ops.shape(mask)
    return ops.reshape(mask, (batch, heads, queries, len(orders) * length))


def ngram_query_mask(
    mask: Any, orders: Sequence[int], query_positions: Any, real: Any | None = None
) -> Any:
    """Return a mask broadcastable to (B, H, M T, S), one block of T rows for each query order.

    A query n-gram that does not exist attends to nothing.

    Args:
        mask: bool, broadcastable to (B, H, T, S).
        orders: orders of the query n-grams.
        query_positions: (T,) int, or (B, T) where rows hold several sentences.
        real: bool, broadcastable to (B, T), False at padding; None = all are real.
    """
    of_orders = [query_positions >= order - 1 for order in orders]
    exists = ops.stack(of_orders, axis=-2)  # (M, T) or (B, M, T)
    if real is not None:
        exists = ops.logical_and(exists, real[:, None, :])  # (B, M, T)
    exists = ops.reshape(exists, (-1, 1, len(orders), ops.shape(query_positions)[-1], 1))
    full = ops.logical_and(ops.expand_dims(mask, 2), exists)  # (B, H, M, T, S)
    batch, heads, count, queries, length = ops.shape(full)
    return ops.reshape(full, (batch, heads, count * queries, length))


def attended_mask(attention_mask: Any) -> Any:
    """Return a mask broadcastable to (B, S), False where no query may attend: at padding."""
    return ops.any(with_all_axes(attention_mask), axis=(1, 2))


def with_all_axes(attention_mask: Any) -> Any:
    """Return a mask broadcastable to (B, H, T, S), reshaped to four axes."""
    mask = ops.convert_to_tensor(attention_mask)
    return ops.reshape(mask, (*[1] * (4 - len(mask.shape)), *ops.shape(mask)))
