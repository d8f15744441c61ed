"""Linear maps of states, for loops over time."""

from __future__ import annotations

from typing import Any

from keras import ops


def linear(x: Any, kernel: Any) -> Any:
    """Return `x @ kernel`.

    `ops.matmul` transposes by a permutation that it computes, and XLA cannot compile its gradient
    within a loop where the sizes of batches are unknown.

    Args:
        x: (B, T, D).
        kernel: (D, U).

    Returns:
        (B, T, U).
    """
    return ops.einsum("btd,du->btu", x, kernel)
