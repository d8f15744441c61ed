"""Partitions of a sentence into segments.

A partition assigns an integer to each token, (..., S): the number of its segment, or 0 at padding.
Numbers start at 1 and never decrease, so a segment is a run of adjacent tokens. Pooling and
attention read a partition as a boolean matrix, `segment_membership`, (..., P, S), True where
segment p contains token s. Rows after a sentence's last segment are empty. The partition of a
sentence depends on that sentence alone, not on padding or batch, and P depends on S alone, so P is
static wherever S is. Where a row holds several sentences, segments are numbered across the row; P
is S then, since there may be sentences of one token.

Shapes: B batch, P rows for segments, S positions; ... any number of axes.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.position import lengths_in_pairs, positions, positions_in_pairs

# Xu et al. (2020), Section 3: a sentence of l tokens is cut into segments of
# max(min(LONGEST, l / PARTS), SHORTEST) tokens.
SHORTEST, LONGEST, PARTS = 3, 8, 6


def fixed_partition(real: Any, length: Any, pairs: Any | None = None) -> Any:
    """Return the partition (..., S) int32 into segments of `length` tokens.

    Differs from the paper: the last segment of a sentence may be shorter, whereas Hao et al.
    (2019), Section 3.2, fill it up with padding.

    Args:
        real: (..., S) bool, True at tokens, False at the padding that follows them.
        length: tokens in a segment; int, or (...) int for a different length in each sentence.
        pairs: (B, S) int, where rows hold several sentences: the number of each token's sentence,
            see `features.PAIRS`; None: rows are sentences.

    Example:
        ```python
        from t2t_phrase.ops.partition import fixed_partition

        real = np.array([[True, True, True, True, True, False]])
        numbers = fixed_partition(real, 2)  # [[1, 1, 2, 2, 3, 0]]
        ```
    """
    if pairs is not None:
        return joined_partition(positions_in_pairs(pairs) // length + 1, pairs)
    position = positions(ops.shape(real)[-1])
    length = ops.expand_dims(ops.cast(length, "int32"), -1)
    return ops.where(real, position // length + 1, 0)


def length_partition(real: Any, pairs: Any | None = None) -> Any:
    """Return the partition (..., S) int32 into segments that are longer in longer sentences.

    Xu et al. (2020), footnote 2. Differs from the paper: the length is that of the sentence,
    including EOS, not that of the padded batch, so that a sentence has the same segments in any
    batch. The division rounds down.

    Args:
        real: (..., S) bool, as in `fixed_partition`.
        pairs: likewise.
    """
    if pairs is not None:
        # (B, S), the same at all tokens of a sentence.
        length = ops.clip(lengths_in_pairs(pairs) // PARTS, SHORTEST, LONGEST)
        return fixed_partition(real, length, pairs)
    tokens = ops.sum(ops.cast(real, "int32"), axis=-1)
    return fixed_partition(real, ops.clip(tokens // PARTS, SHORTEST, LONGEST))


def joined_partition(numbers: Any, pairs: Any) -> Any:
    """Return the partition (B, S) int32 of rows of several sentences from those of the sentences.

    Args:
        numbers: (B, S) int, the partition of each sentence, numbered from 1.
        pairs: (B, S) int, the number of each token's sentence, see `features.PAIRS`.
    """
    before = [(0, 0), (1, 0)]
    begins = ops.logical_or(
        ops.not_equal(numbers, ops.pad(numbers[:, :-1], before)),
        ops.not_equal(pairs, ops.pad(pairs[:, :-1], before)),
    )
    return ops.where(pairs > 0, ops.cumsum(ops.cast(begins, "int32"), axis=-1), 0)


def level_partition(levels: Any, level: int) -> Any:
    """Return the partition (..., S) int32 that results from cutting a tree at one depth.

    Hao et al. (2019), Section 3.2: the segments of level k are the constituents at depth k, and
    the words whose branch ends above it.

    Args:
        levels: (..., S) int, for each token the lowest level at which a segment begins with it,
            1 for the first token; 0 at padding. See `text.trees.tree_levels`. So where rows hold
            several sentences, each sentence begins a new segment.
        level: k, at least 1.

    Example:
        ```python
        from t2t_phrase.ops.partition import level_partition

        # (the (old house)) (sleeps)
        levels = np.array([[1, 2, 3, 1, 0]])
        top_level = level_partition(levels, 1)  # [[1, 1, 1, 2, 0]]
        below = level_partition(levels, 2)  # [[1, 2, 2, 3, 0]]
        ```
    """
    begins = ops.cast(ops.less_equal(levels, level), "int32")
    return ops.where(ops.greater(levels, 0), ops.cumsum(begins, axis=-1), 0)


def fixed_slots(length: Any, shortest: int) -> Any:
    """Return P for partitions in which all segments but the last have at least `shortest` tokens.

    Args:
        length: S; a number, or a scalar where a graph is traced for sentences of unknown length.
        shortest: 1 fits every partition.
    """
    # Rounded up without negative numbers, whose division ONNX rounds to 0.
    return (length + shortest - 1) // shortest


def length_slots(length: Any) -> Any:
    """Return the P that `length_partition` needs for sentences of up to `length` tokens."""
    # The longest sentence that has segments of SHORTEST tokens has the most of them.
    most = fixed_slots((SHORTEST + 1) * PARTS - 1, SHORTEST)
    if isinstance(length, int):
        return min(fixed_slots(length, SHORTEST), max(most, fixed_slots(length, LONGEST)))
    return ops.minimum(
        fixed_slots(length, SHORTEST), ops.maximum(most, fixed_slots(length, LONGEST))
    )


def segment_membership(numbers: Any, slots: Any) -> Any:
    """Return which tokens each segment contains, (..., P, S) bool.

    Args:
        numbers: (..., S) int.
        slots: P, at least the highest number.
    """
    slot = ops.arange(slots, dtype="int32") + 1
    return ops.equal(ops.expand_dims(ops.cast(numbers, "int32"), -2), slot[:, None])


def segment_pairs(membership: Any, pairs: Any) -> Any:
    """Return (B, ..., P) int: the pair that each segment belongs to, 0 if it has no token.

    Args:
        membership: (B, ..., P, S) bool.
        pairs: (B, S) int, the number of each token's pair, see `features.PAIRS`.
    """
    batch, length = ops.shape(pairs)
    pairs = ops.reshape(pairs, (batch, *[1] * (len(membership.shape) - 2), length))
    return ops.max(ops.where(membership, pairs, 0), axis=-1)


def segment_mask(membership: Any) -> Any:
    """Return (B, 1, 1, P) bool: every query may attend to every segment that contains a token.

    Args:
        membership: (B, P, S) bool.
    """
    return ops.any(membership, axis=-1)[:, None, None, :]
