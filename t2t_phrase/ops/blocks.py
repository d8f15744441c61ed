"""Writing one time step into an array of all time steps."""

from __future__ import annotations

from typing import Any

from keras import ops


def write_block(x: Any, values: Any, index: Any, *, axis: int) -> Any:
    """Return `x` with its block `index` along `axis` replaced.

    Blocks are as long as `values` along the axis; `x` consists of a whole number of them. If a size
    is unknown while the graph is traced, the result is computed by `where`, because a slice update
    is an XLA operation that needs known sizes and that some servers lack.

    Args:
        x: (..., L * N, ...).
        values: (..., N, ...), with N known; its other axes are those of `x`.
        index: number of the block, 0 <= index < L.
        axis: the axis of L * N, not negative.
    """
    shape = ops.shape(x)
    size = values.shape[axis]
    if all(isinstance(length, int) for length in shape):
        start = [0] * len(shape)
        start[axis] = index * size
        return ops.slice_update(x, start, values)
    blocks = shape[axis] // size
    split = ops.reshape(x, (*shape[:axis], blocks, size, *shape[axis + 1 :]))
    chosen = ops.equal(ops.arange(blocks), index)
    chosen = ops.reshape(chosen, (-1, *([1] * (len(shape) - axis))))
    return ops.reshape(ops.where(chosen, ops.expand_dims(values, axis), split), shape)
