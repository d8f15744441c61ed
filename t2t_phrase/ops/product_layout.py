"""The layout in which a search keeps the matrices that it multiplies few rows by, again and again.

In bfloat16, a CPU reads the pairs of numbers along the dimension that is summed over. They are side
by side in the transposed matrix; otherwise each product puts them there first. In float32, the
matrix itself is faster for the hundred rows and more of a usual batch.

Shapes: D inputs, U outputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops


class KeptMatrix(NamedTuple):
    """A matrix (D, U) as a search keeps it.

    Attributes:
        stored: in bfloat16 (U, D), else (D, U).
    """

    stored: Any

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.stored.dtype


def kept(matrix: Any) -> KeptMatrix:
    """Return a matrix (D, U) as it is to be kept."""
    return KeptMatrix(ops.transpose(matrix) if _transposed(matrix) else matrix)


def multiplied(matrix: KeptMatrix) -> Any:
    """Return the matrix (D, U) of what `kept` returned.

    Call it where the product is made, in the loop of a search: compilers then multiply by the
    transposed matrix and do not transpose it.
    """
    return ops.transpose(matrix.stored) if _transposed(matrix) else matrix.stored


def _transposed(x: Any) -> bool:
    return bool(keras.backend.standardize_dtype(x.dtype) == "bfloat16")
