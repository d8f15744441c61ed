"""The layout in which a search keeps the matrices that it multiplies few rows by, again and again.

In bfloat16, a CPU reads the pairs of numbers along the dimension that is summed over. They are side
by side in the transposed matrix; otherwise each product puts them there first. In float32, the
matrix itself is faster for the hundred rows and more of a usual batch.

Shapes: D inputs, U outputs.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


def kept(matrix: Any) -> Any:
    """Return a matrix (D, U) as it is to be kept: in bfloat16 (U, D), else as it is."""
    return ops.transpose(matrix) if _transposed(matrix) else matrix


def multiplied(kept_matrix: Any) -> Any:
    """Return the matrix (D, U) of what `kept` returned.

    Call it where the product is made, in the loop of a search: compilers then multiply by the
    transposed matrix and do not transpose it.
    """
    return ops.transpose(kept_matrix) if _transposed(kept_matrix) else kept_matrix


def _transposed(x: Any) -> bool:
    return bool(keras.backend.standardize_dtype(x.dtype) == "bfloat16")
