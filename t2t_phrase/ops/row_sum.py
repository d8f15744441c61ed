"""The sum of many rows, as a product."""

from __future__ import annotations

from typing import Any

from keras import ops

# With XLA on a CPU, one row of ones takes longer than this many.
_ROWS_OF_ONES = 8


def row_sum(x: Any) -> Any:
    """Return the sum (D,) of all rows of x (..., D), D known, as a product with ones.

    On a CPU, TensorFlow's sum over the first axes takes longer, most of all where XLA fuses it with
    the computation of `x`.
    """
    x = ops.reshape(x, (-1, x.shape[-1]))  # (N, D)
    return ops.matmul(ops.ones((_ROWS_OF_ONES, ops.shape(x)[0]), x.dtype), x)[0]
