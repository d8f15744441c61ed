"""The vectors of a sentence and of its words, from the states of its tokens.

Shapes: B batch, S tokens, W words, D hidden size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.masks import padding_mask
from t2t_phrase.ops.position import positions


def sentence_vectors(states: Any, ids: Any) -> Any:
    """Return (B, D) float32: the mean of the states of a sentence's tokens, EOS included.

    Args:
        states: (B, S, D).
        ids: (B, S) int, 0 at padding.
    """
    real = ops.cast(padding_mask(ids), "float32")[..., None]  # (B, S, 1)
    total = ops.sum(ops.cast(states, "float32") * real, axis=1)
    return total / ops.maximum(ops.sum(real, axis=1), 1.0)


def word_vectors(states: Any, words: Any, ends: Any | None = None) -> Any:
    """Return (B, W, D) float32: the state of each word's first token, or the mean of its tokens.

    Args:
        states: (B, S, D).
        words: (B, W) int, the number of the first token of each word.
        ends: (B, W) int, one more than the number of its last token; None: the first token counts.
    """
    if ends is None:
        return ops.cast(ops.take_along_axis(states, words[..., None], axis=1), "float32")
    place = positions(ops.shape(states)[1])  # (S,)
    inside = ops.logical_and(place >= words[..., None], place < ends[..., None])  # (B, W, S)
    weights = ops.cast(inside, "float32")
    weights = weights / ops.maximum(ops.sum(weights, axis=-1, keepdims=True), 1.0)
    return ops.matmul(weights, ops.cast(states, "float32"))
