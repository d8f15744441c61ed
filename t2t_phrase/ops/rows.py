"""Choosing rows, such as beams, of each sentence.

Shapes: B batch, N rows.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def take_rows(x: Any, rows: Any) -> Any:
    """Return x[b, rows[b, k]], with the axes of `rows` and then the further axes of `x`.

    `take_along_axis` would build an index for every element, and fails where the other axes are
    empty.

    Args:
        x: (B, N, ...).
        rows: (B, ...) int32, each from 0 to N - 1.
    """
    batch, count, *others = ops.shape(x)
    first = ops.arange(batch, dtype="int32") * count
    first = ops.reshape(first, (batch, *[1] * (len(rows.shape) - 1)))
    return ops.take(ops.reshape(x, (batch * count, *others)), rows + first, axis=0)
