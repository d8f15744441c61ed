"""Pooling the tokens of each segment of a partition into one vector.

No function builds a vector for every pair of segment and token: sums are one matrix product with
the (P, S) matrix, and maxima spread within segments in steps of doubling length.

Shapes: B batch, P rows for segments, S positions, D width. `membership` is (B, P, S) bool, see
`ops.partition`. A row without a token gives zeros.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.attention import MASKED
from t2t_phrase.ops.own_gradient import own_gradient
from t2t_phrase.ops.rows import take_rows


def mean_weights(membership: Any) -> Any:
    """Return (B, P, S) float32: 1 / number of tokens of the segment, 0 at other tokens."""
    member = ops.cast(membership, "float32")
    return member / ops.maximum(ops.sum(member, axis=-1, keepdims=True), 1.0)


def without_padding(x: Any, membership: Any) -> Any:
    """Return (..., S, D): zeros instead of the vectors of tokens that no segment contains.

    A product of 0 and such a vector would not be 0 if it held NaN or an infinity.

    Args:
        x: (..., S, D).
        membership: (..., P, S) bool.
    """
    inside = ops.any(membership, axis=-2)[..., None]
    return ops.where(inside, x, ops.zeros((), x.dtype))


def weighted_sum(weights: Any, x: Any) -> Any:
    """Return (B, P, D) in the type of `x`.

    Args:
        weights: (B, P, S).
        x: (B, S, D).
    """
    return ops.matmul(ops.cast(weights, x.dtype), x)


def to_tokens(segments: Any, membership: Any) -> Any:
    """Return (B, S, D): for each token the vector of its segment (B, P, D); zeros at padding."""
    return ops.matmul(ops.cast(ops.swapaxes(membership, 1, 2), segments.dtype), segments)


def own_segment(segments: Any, membership: Any) -> Any:
    """Return the result of `to_tokens`, but exact in any dtype, and meaningless at padding."""
    slot = _first(membership, axis=1)  # (B, S)
    return take_rows(segments, slot)


def segment_max(x: Any, membership: Any, *, longest: int | None = None) -> Any:
    """Return the largest value of each dimension within each segment, (B, P, D).

    The gradient goes to the token with the largest value, in equal parts if there are several.

    Args:
        x: (B, S, D) float.
        membership: (B, P, S) bool; the tokens of a segment must be adjacent.
        longest: an upper bound on the number of tokens in a segment. None: computed from
            `membership`, which makes the steps a loop.
    """
    x = without_padding(x, membership)
    slot = _first(membership, axis=1)
    number = ops.where(ops.any(membership, axis=1), slot, -1)  # (B, S)
    position = ops.arange(ops.shape(x)[1], dtype="int32")
    last = ops.max(ops.where(membership, position, 0), axis=-1)  # (B, P)
    exists = ops.any(membership, axis=-1)

    def spread(shift: Any, y: Any) -> Any:
        """Return the maximum of each token and the token `shift` before it in its segment."""
        # A roll wraps around, which does no harm: only a token of the same segment can count.
        same = ops.equal(number, ops.roll(number, shift, axis=1))
        penalty = ops.cast(ops.where(same, 0.0, MASKED), y.dtype)
        return ops.maximum(y, ops.roll(y, shift, axis=1) + penalty[..., None])

    def largest(x: Any) -> Any:
        if longest is None:
            limit = ops.max(ops.sum(ops.cast(membership, "int32"), axis=-1))
            _, y = ops.while_loop(
                lambda shift, y: shift < limit,
                lambda shift, y: (2 * shift, spread(shift, y)),
                (ops.cast(1, "int32"), x),
            )
        else:
            y, shift = x, 1
            while shift < longest:
                y, shift = spread(shift, y), 2 * shift
        return take_rows(y, last) * ops.cast(exists, x.dtype)[..., None]

    @own_gradient
    def pooled(x: Any) -> Any:
        result = largest(x)

        def gradient(upstream: Any) -> Any:
            wins = ops.cast(ops.equal(x, own_segment(result, membership)), x.dtype)
            shared_by = weighted_sum(membership, wins)  # (B, P, D)
            share = upstream / ops.maximum(shared_by, 1.0)
            return wins * to_tokens(share, membership)

        return result, gradient

    return pooled(x)


def gather_segments(x: Any, membership: Any, longest: Any) -> tuple[Any, Any]:
    """Return the tokens of each segment side by side, and where each segment ends.

    Args:
        x: (B, S, D).
        membership: (B, P, S) bool; the tokens of a segment must be adjacent.
        longest: N, an upper bound on the number of tokens in a segment.

    Returns:
        (tokens (B, P, N, D), last (B, P) int32): vectors after the last token of a segment are
        meaningless; `last` is the index of that token in its segment, or -1 without a token.
    """
    first = _first(membership, axis=-1)  # (B, P)
    last = ops.sum(ops.cast(membership, "int32"), axis=-1) - 1
    place = first[..., None] + ops.arange(longest, dtype="int32")  # (B, P, N)
    place = ops.minimum(place, ops.shape(x)[1] - 1)
    batch, slots, tokens = ops.shape(place)
    taken = take_rows(x, ops.reshape(place, (batch, slots * tokens)))
    return ops.reshape(taken, (batch, slots, tokens, x.shape[-1])), last


def max_shares(x: Any, pooled: Any, membership: Any) -> Any:
    """Return (B, P, S) float32: the share of dimensions in which a token has the largest value.

    Args:
        x: (B, S, D) float.
        pooled: (B, P, D), from `segment_max`.
        membership: (B, P, S) bool.
    """
    wins = ops.cast(ops.equal(x, own_segment(pooled, membership)), "float32")
    shared_by = weighted_sum(membership, wins)
    share = to_tokens(1.0 / ops.maximum(shared_by, 1.0), membership)
    own = ops.mean(wins * share, axis=-1)  # (B, S)
    return ops.where(membership, own[:, None, :], 0.0)


def _first(membership: Any, axis: int) -> Any:
    """Return the index of the first True along an axis, int32; 0 where there is none."""
    # ONNX has no such operation for booleans.
    return ops.cast(ops.argmax(ops.cast(membership, "int32"), axis=axis), "int32")
