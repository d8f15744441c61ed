"""Boolean masks over tokens; True = may attend.

Masks are made here and in `ngram_masks` and `partition`, which derive those over n-grams and
segments.

Shapes: B batch, T queries, S memory positions, K beams, L longest output, N positions
of a window.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.position import positions
from t2t_phrase.special_ids import PAD_ID


def padding_mask(ids: Any) -> Any:
    """Return (B, S) bool, True at real tokens of `ids` (B, S)."""
    return ops.not_equal(ids, PAD_ID)


def memory_mask(ids: Any) -> Any:
    """Return (B, 1, 1, S) bool: every query may attend to every real token of `ids` (B, S)."""
    return padding_mask(ids)[:, None, None, :]


def same_pair_mask(pairs: Any, memory_pairs: Any) -> Any:
    """Return (B, 1, T, S) bool: tokens may attend to those of their own pair, padding to nothing.

    Args:
        pairs: (B, T) int, the number of the pair of each query, see `features.PAIRS`.
        memory_pairs: (B, S) int, likewise for the memory; or (B, H, S) for a memory of each head,
            in which case the result is (B, H, T, S).
    """
    if len(memory_pairs.shape) == 2:
        memory_pairs = memory_pairs[:, None]
    memory_pairs = memory_pairs[:, :, None]
    return ops.logical_and(ops.equal(pairs[:, None, :, None], memory_pairs), memory_pairs > 0)


def causal_mask(length: Any) -> Any:
    """Return (1, 1, T, T) bool: query i may attend to memory position j <= i.

    Example:
        ```python
        from t2t_phrase.ops.masks import causal_mask

        mask = causal_mask(2)[0, 0]  # [[True, False], [True, True]]
        ```
    """
    position = positions(length)
    return (position[None, :] <= position[:, None])[None, None]


def history_mask(ancestors: Any, index: Any) -> Any:
    """Return (B, 1, K, L * K) bool: the part of all beams' history that each beam may see.

    The histories of all beams are kept side by side, position t of beam k at $t K + k$, and are
    never moved; a beam sees only the positions of its own ancestors.

    Args:
        ancestors: (B, K, L) int; at [b, k, t], the beam that held token t of beam k at time t.
        index: the time of the current token; later tokens are hidden.
    """
    batch, beam_size, length = ops.shape(ancestors)
    own = ops.equal(ancestors[..., None], ops.arange(beam_size))  # (B, K, L, K)
    past = positions(length) <= index
    visible = ops.logical_and(own, past[:, None])
    # A known B stays known, even where L is not.
    return ops.reshape(visible, (batch, 1, beam_size, length * beam_size))


def window_mask(positions: Any, lengths: Any) -> Any:
    """Return (B, 1, T, N) bool: the positions of a window that lie within the sentence.

    Args:
        positions: (B, T, N) int, see `ops.windows`.
        lengths: (B, 1) or (B, T) int, the number of tokens of each sentence.
    """
    inside = ops.logical_and(positions >= 0, positions < lengths[..., None])
    return inside[:, None]
