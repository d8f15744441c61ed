"""The vector of a sentence and those of its words, from the states of its tokens.

Shapes: B batch, S tokens, W words, D hidden size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.masks import padding_mask


def sentence_vectors(states: Any, ids: Any) -> Any:
    """Return (B, D) float32: the mean of the states of a sentence's tokens, EOS included.

    Args:
        states: (B, S, D).
        ids: (B, S) int, 0 at padding.
    """
    real = ops.cast(padding_mask(ids), "float32")[..., None]  # (B, S, 1)
    total = ops.sum(ops.cast(states, "float32") * real, axis=1)
    return total / ops.maximum(ops.sum(real, axis=1), 1.0)


def word_vectors(states: Any, words: Any) -> Any:
    """Return (B, W, D) float32: the state of the token of each word.

    Args:
        states: (B, S, D).
        words: (B, W) int, the number of the token of each word.
    """
    return ops.cast(ops.take_along_axis(states, words[..., None], axis=1), "float32")
