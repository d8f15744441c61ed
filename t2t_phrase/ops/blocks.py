"""Writing one time step into an array that holds all of them."""

from __future__ import annotations

from typing import Any

from keras import ops


def write_block(x: Any, values: Any, index: Any, *, axis: int) -> Any:
    """Return `x` with its block `index` along `axis` replaced.

    A block is as long as `values` along the axis; `x` holds a whole number of them. Where a size
    is unknown while the graph is traced, the result is made of plain selections: the slice update
    below is an operation of XLA's, which a server may lack and which wants known sizes.

    Args:
        x: (..., L * N, ...).
        values: (..., N, ...), with N known; its other axes are as those of `x`.
        index: the block's number, 0 <= index < L.
        axis: which axis that is, from 0.
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
