"""A dense map of two vectors, as the sum of one map of each."""

from __future__ import annotations

from typing import Any

from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.initializers import kernel_initializer


def halves(
    units: int, *, hidden_size: int, names: tuple[str, str], dtype: Any
) -> tuple[Dense, Dense]:
    """Return two maps (..., D) -> (..., units) whose sum is $W [x; y] + b$; the first has b.

    Args:
        units: width of the result.
        hidden_size: D, width of x and of y.
        names: of the maps of x and y.
        dtype: dtype policy of both.
    """
    # That of the whole matrix W, (2 D, units).
    scale = (hidden_size + units) / (2 * hidden_size + units)

    def half(name: str, use_bias: bool) -> Dense:
        initializer = kernel_initializer(scale)
        return Dense(
            units, use_bias=use_bias, kernel_initializer=initializer, dtype=dtype, name=name
        )

    return half(names[0], True), half(names[1], False)
