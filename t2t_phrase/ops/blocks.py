"""Arrays of all time steps, to which each step adds a block.

Shapes: L number of time steps, N length of a block.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def write_block(x: Any, values: Any, index: Any, *, axis: int) -> Any:
    """Return `x` with block `index` along `axis` replaced, in one pass over `x`.

    Blocks are as long as `values` along the axis; `x` consists of a whole number of them. Meant for
    small arrays, and for sizes that are unknown while the graph is traced.

    Args:
        x: (..., L * N, ...).
        values: (..., N, ...), with N known; its other axes are those of `x`.
        index: number of the block, 0 <= index < L.
        axis: the axis of L * N, not negative.
    """
    shape = ops.shape(x)
    size = values.shape[axis]
    blocks = shape[axis] // size
    split = ops.reshape(x, (*shape[:axis], blocks, size, *shape[axis + 1 :]))
    chosen = ops.equal(ops.arange(blocks), index)
    chosen = ops.reshape(chosen, (-1, *([1] * (len(shape) - axis))))
    return ops.reshape(ops.where(chosen, ops.expand_dims(values, axis), split), shape)


def add_block(history: Any, values: Any, index: Any, *, axis: int) -> Any:
    """Return a history with the block of one more time step.

    A history has one of two forms. One has room for all L steps, and block `index` is replaced: XLA
    does so in place, but where operations run one by one, each step copies the whole array. The
    other is as long as the past and grows; it is recognised by its length along `axis`, which is
    unknown while the graph is traced, and starts without blocks, see `start_decoder`.

    Args:
        history: (..., L * N, ...) or (..., index * N, ...).
        values: (..., N, ...), with N known; its other axes are those of `history`.
        index: number of the block.
        axis: the axis of the blocks, not negative.
    """
    if history.shape[axis] is None:
        return ops.concatenate([history, values], axis=axis)
    shape = ops.shape(history)
    if not all(isinstance(length, int) for length in shape):
        # A slice update is an XLA operation that needs known sizes and that some servers lack.
        return write_block(history, values, index, axis=axis)
    start = [0] * len(shape)
    start[axis] = index * values.shape[axis]
    return ops.slice_update(history, start, values)
