"""Masks and positions of a batch whose rows hold one pair each, or several separate pairs.

Rows of several pairs come with the number of the pair that each token belongs to, see
`features.PAIRS`. Without these numbers, masks are those of one pair in each row.

Shapes: B rows, S source length, T target length, P rows for segments.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.features import ALIGNMENT, IDS, PAIRS, Side
from t2t_phrase.models.base import Features
from t2t_phrase.ops.jumps import Jumps, jumps_of
from t2t_phrase.ops.masks import causal_mask, memory_mask, padding_mask, same_pair_mask
from t2t_phrase.ops.partition import segment_mask, segment_pairs
from t2t_phrase.ops.position import places_in_rows, positions_in_pairs


def packed_positions(features: Features, side: Side) -> Any | None:
    """Return (B, S) int32, the position of each token in its sentence; None: rows are sentences."""
    return positions_in_pairs(features[PAIRS[side]]) if is_packed(features) else None


def is_packed(features: Features) -> bool:
    """Return whether rows hold several pairs."""
    return PAIRS["source"] in features


def source_mask(features: Features) -> Any:
    """Return the mask of attention within the source, broadcastable to (B, 1, S, S)."""
    if not is_packed(features):
        return memory_mask(features[IDS["source"]])
    pairs = features[PAIRS["source"]]
    return same_pair_mask(pairs, pairs)


def target_mask(features: Features) -> Any:
    """Return the mask of attention to earlier targets, broadcastable to (B, 1, T, T)."""
    causal = causal_mask(ops.shape(features[IDS["target"]])[1])
    if not is_packed(features):
        return causal
    pairs = features[PAIRS["target"]]
    return ops.logical_and(causal, same_pair_mask(pairs, pairs))


def cross_mask(features: Features, mask: Any) -> Any:
    """Return the mask of attention from targets to the source, broadcastable to (B, 1, T, S).

    Args:
        features: of both sides.
        mask: (B, 1, 1, S), which source tokens are real.
    """
    if not is_packed(features):
        return mask
    return same_pair_mask(features[PAIRS["target"]], features[PAIRS["source"]])


def segments_mask(features: Features, membership: Any, side: Side) -> Any:
    """Return the mask of attention from one side to segments of the source.

    Args:
        features: of both sides.
        membership: (B, P, S) bool, which source tokens each segment contains.
        side: the side of the queries.

    Returns:
        bool, broadcastable to (B, 1, S, P) or (B, 1, T, P).
    """
    if not is_packed(features):
        return segment_mask(membership)
    pairs_of_segments = segment_pairs(membership, features[PAIRS["source"]])
    return same_pair_mask(features[PAIRS[side]], pairs_of_segments)


def jumps_in(features: Features) -> Jumps:
    """Return the jumps of the alignment of the targets, between positions in their sources."""
    return jumps_of(features[ALIGNMENT.name], packed_positions(features, "target"))


def source_places(features: Features, places: Any) -> Any:
    """Return (B, T) int32, positions in sources as positions in rows; -1: outside of the source.

    Args:
        features: of both sides.
        places: (B, T) int, for each target token a position in its source.
    """
    if is_packed(features):
        return places_in_rows(places, features[PAIRS["target"]], features[PAIRS["source"]])
    places = ops.cast(places, "int32")
    real = ops.cast(padding_mask(features[IDS["source"]]), "int32")
    return ops.where(places < ops.sum(real, axis=-1, keepdims=True), places, -1)
