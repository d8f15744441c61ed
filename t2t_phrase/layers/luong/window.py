"""The window of the source that each target position attends to."""

from __future__ import annotations

from typing import Any, NamedTuple


class Windows(NamedTuple):
    """The windows of an attention that reads $2D + 1$ positions, for B sentences of T queries.

    Attributes:
        centre: (B, T) int32, the position in the middle of the window.
        aligned: (B, T) float32, p_t, which is rounded to `centre`.
        radius: D.
        deviation: standard deviation of the Gaussian around p_t that multiplies the weights; None:
            there is no Gaussian.
    """

    centre: Any
    aligned: Any
    radius: int
    deviation: float | None
