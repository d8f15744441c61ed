"""The layout in which a search keeps matrices that it repeatedly multiplies by few rows.

In bfloat16, a CPU reads pairs of numbers along the dimension that is summed over. In the transposed
matrix, the numbers of a pair are adjacent; otherwise each product rearranges them first. In
float32, the matrix itself is faster for the hundred or more rows of a usual batch.

Shapes: D inputs, U outputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops


class KeptMatrix(NamedTuple):
    """A matrix (D, U) as a search keeps it.

    Attributes:
        stored: (U, D) in bfloat16, else (D, U).
    """

    stored: Any

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.stored.dtype


def kept(matrix: Any) -> KeptMatrix:
    """Return a matrix (D, U) in the form in which a search keeps it."""
    return KeptMatrix(ops.transpose(matrix) if _transposed(matrix) else matrix)


def multiplied(matrix: KeptMatrix) -> Any:
    """Return the matrix (D, U) from the result of `kept`.

    Call this where the product is computed, in the loop of a search: compilers then multiply by the
    transposed matrix and do not transpose it.
    """
    return ops.transpose(matrix.stored) if _transposed(matrix) else matrix.stored


def _transposed(x: Any) -> bool:
    return bool(keras.backend.standardize_dtype(x.dtype) == "bfloat16")
