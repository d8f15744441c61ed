"""Processing many rows in blocks, so that intermediate results never exist for all rows at once.

Shapes: N rows, R rows of a block.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keras import ops


@dataclasses.dataclass(frozen=True)
class RowBlocks:
    """Divides N rows into blocks of R and a rest of 1 to R rows, which comes last.

    The caller processes the rest first; `loop` then takes the blocks. If rows are few, all of them
    are the rest, and where the compiler knows N, it removes the loop.

    Args:
        rows: N, an int or a tensor.
        size: R.
        undivided: the largest N for which all rows are the rest, at least R.
    """

    rows: Any
    size: int
    undivided: int

    @property
    def end(self) -> Any:
        """The number of rows before the rest, an int if N is one."""
        before = (self.rows - 1) // self.size * self.size
        if isinstance(self.rows, int):
            return before if self.rows > self.undivided else 0
        return ops.where(self.rows > self.undivided, before, 0)

    def rest(self, x: Any) -> Any:
        """Return the rest of `x` (N, ...)."""
        return x[self.end :]

    def widen(self, x: Any) -> Any:
        """Return the results of the last rows, with zeros for all rows before them: (N, ...)."""
        if isinstance(self.end, int) and self.end == 0:
            return x
        return ops.concatenate([ops.zeros((self.end, *x.shape[1:]), x.dtype), x])

    def loop(self, step: Callable[..., Iterable[Any]], values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values after one step for each block.

        Args:
            step: given the indices (R,) of the block's rows and the values, returns the values
                after the step. One block is in memory at a time.
            values: nonempty tensors, whose shapes do not change.
        """
        if isinstance(self.end, int) and self.end == 0:
            return tuple(values)

        def advance(start: Any, *values: Any) -> tuple[Any, ...]:
            found = tuple(step(start + ops.arange(self.size, dtype="int32"), *values))
            return (_known_after(start + self.size, found), *found)

        return ops.while_loop(
            lambda start, *_: start < self.end, advance, (ops.zeros((), "int32"), *values)
        )[1:]


def put_rows(x: Any, rows: Any, values: Any) -> Any:
    """Return `x` (N, ...) with `values` (R, ...) at the indices `rows` (R,), all different."""
    return ops.scatter_update(x, rows[:, None], values)


def _known_after(number: Any, values: Iterable[Any]) -> Any:
    """Return `number`, but not before the values have been computed.

    Otherwise TensorFlow would start as many as ten iterations of a loop at once.
    """
    for value in values:
        first = value[(0,) * len(value.shape)]
        number = ops.where(ops.isnan(first), number, number)
    return number
