"""Rows of a table of vectors, with a gradient in the precision of the table."""

from __future__ import annotations

from typing import Any

from keras import ops


def look_up(table: Any, places: Any, dtype: Any) -> Any:
    """Return rows (..., D) of a table, converted to `dtype`.

    The rows are converted, not the table, so that the gradients of a row that is looked up often
    are summed in the precision of the table: a sum in bfloat16 stops growing at 256 times its
    terms. A variable must have been created with `autocast=False` for this.

    Args:
        table: (V, D), a variable or a tensor.
        places: (...) int, rows of the table.
        dtype: the type of the result.
    """
    return ops.cast(ops.take(ops.convert_to_tensor(table), places, axis=0), dtype)
