"""Partitions of a sentence into segments.

A partition is written as one integer a token, (..., S): the number of the token's segment, counted
from 1 and never descending, and 0 at padding; so a segment is a run of neighbouring tokens. Pooling
and attention read it as a boolean matrix, `segment_membership`, (..., P, S), True where segment p
contains token s. Rows beyond a sentence's last segment are empty. The partition of a sentence
depends on that sentence alone, not on padding or batch, and P depends on S alone, so that P is
static wherever S is.

Shapes: B batch, P rows for segments, S positions; ... any number of axes.
"""

from __future__ import annotations

from typing import Any

from keras import ops

# Of Xu et al. (2020), Section 3: a sentence of l tokens is cut into phrases of
# max(min(LONGEST, l / PARTS), SHORTEST) tokens.
SHORTEST, LONGEST, PARTS = 3, 8, 6


def ngram_partition(real: Any, length: Any) -> Any:
    """Return the numbers (..., S) int32 of phrases of `length` tokens; the last may be shorter.

    Args:
        real: (..., S) bool, True at tokens, False at the padding that follows them.
        length: tokens of a phrase; int, or (...) int where sentences differ.
    """
    position = ops.arange(ops.shape(real)[-1], dtype="int32")
    length = ops.expand_dims(ops.cast(length, "int32"), -1)
    return ops.where(real, position // length + 1, 0)


def length_partition(real: Any) -> Any:
    """Return the numbers (..., S) int32 of phrases that are longer in longer sentences.

    Xu et al. (2020), footnote 2. Differs from the paper: the length is that of the sentence, EOS
    included, not that of the padded batch, on which the phrases of a sentence would depend. The
    division rounds down.

    Args:
        real: (..., S) bool, as in `ngram_partition`.
    """
    tokens = ops.sum(ops.cast(real, "int32"), axis=-1)
    return ngram_partition(real, ops.clip(tokens // PARTS, SHORTEST, LONGEST))


def ngram_slots(length: Any, shortest: int) -> Any:
    """Return P, for phrases that all but the last have at least `shortest` tokens.

    Args:
        length: S; a number, or a scalar where a graph is traced for sentences of unknown length.
        shortest: 1 fits every partition.
    """
    return -(-length // shortest)


def length_slots(length: Any) -> Any:
    """Return the P that `length_partition` needs of sentences of up to `length` tokens."""
    # The most phrases of SHORTEST are those of the longest sentence before a phrase has one more.
    most = ngram_slots((SHORTEST + 1) * PARTS - 1, SHORTEST)
    if isinstance(length, int):
        return min(ngram_slots(length, SHORTEST), max(most, ngram_slots(length, LONGEST)))
    return ops.minimum(
        ngram_slots(length, SHORTEST), ops.maximum(most, ngram_slots(length, LONGEST))
    )


def segment_membership(numbers: Any, slots: Any) -> Any:
    """Return which tokens each phrase holds, (..., P, S) bool.

    Args:
        numbers: (..., S) int.
        slots: P, at least the highest number.
    """
    slot = ops.arange(slots, dtype="int32") + 1
    return ops.equal(ops.expand_dims(ops.cast(numbers, "int32"), -2), slot[:, None])


def phrase_mask(membership: Any) -> Any:
    """Return (B, 1, 1, P) bool: every query may attend to every phrase that holds a token.

    Args:
        membership: (B, P, S) bool.
    """
    return ops.any(membership, axis=-1)[:, None, None, :]
