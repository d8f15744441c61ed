"""Windows of neighbouring positions: gathering them, and spreading their weights.

Shapes: B batch, T queries, S positions, $N = 2R + 1$ positions of a window of radius R, W width.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.rows import take_rows


def window_positions(centre: Any, radius: int) -> Any:
    """Return (B, T, N) int32: the positions around each centre, even those outside the sentence.

    Args:
        centre: (B, T) int.
        radius: R.
    """
    return ops.cast(centre, "int32")[..., None] + ops.arange(-radius, radius + 1, dtype="int32")


def gather_windows(x: Any, positions: Any) -> Any:
    """Return (B, T, N, W): the rows of `x` at these positions; arbitrary rows outside of `x`.

    Args:
        x: (B, S, W).
        positions: (B, T, N) int, from `window_positions`.
    """
    return take_rows(x, ops.clip(positions, 0, ops.shape(x)[1] - 1))


def spread_windows(weights: Any, positions: Any, length: Any) -> Any:
    """Return (B, T, S): the weights of windows at their positions in the sentence, 0 elsewhere.

    Args:
        weights: (B, T, N).
        positions: (B, T, N) int, from `window_positions`; weights outside the sentence are lost.
        length: S.
    """
    size = weights.shape[-1]
    place = ops.arange(length, dtype="int32") - positions[..., :1]  # (B, T, S)
    found = ops.take_along_axis(weights, ops.clip(place, 0, size - 1), axis=-1)
    inside = ops.logical_and(place >= 0, place < size)
    return ops.where(inside, found, ops.zeros_like(found))


def gaussian(positions: Any, mean: Any, deviation: float) -> Any:
    """Return (B, T, N) float32: $exp(-(s - mean)^2 / (2 deviation^2))$.

    Args:
        positions: (B, T, N) int, s.
        mean: (B, T) float32.
        deviation: positive.
    """
    distance = ops.cast(positions, "float32") - mean[..., None]
    return ops.exp(-ops.square(distance) / (2 * deviation**2))
