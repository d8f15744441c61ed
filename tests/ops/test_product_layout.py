"""The layout of matrices for products."""

import numpy as np
import pytest
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.ops.product_layout import kept, multiplied

ROWS = np.random.default_rng(0).normal(size=(3, 8)).astype("float32")
MATRIX = np.random.default_rng(1).normal(size=(8, 5)).astype("float32")


@pytest.mark.parametrize(("dtype", "shape"), [("float32", (8, 5)), ("bfloat16", (5, 8))])
def test_the_product_is_that_of_the_matrix(dtype: str, shape: tuple[int, int]) -> None:
    matrix, rows = ops.cast(MATRIX, dtype), ops.cast(ROWS, dtype)
    stored = kept(matrix)
    assert tuple(stored.stored.shape) == shape
    assert stored.dtype == matrix.dtype
    np.testing.assert_array_equal(
        ops.cast(multiplied(stored), "float32"), ops.cast(matrix, "float32")
    )
    product = compiled(lambda rows, stored: ops.matmul(rows, multiplied(stored)))(rows, stored)
    exact = np.asarray(ops.cast(rows, "float32"), np.float64) @ np.asarray(
        ops.cast(matrix, "float32"), np.float64
    )
    np.testing.assert_allclose(ops.cast(product, "float32"), exact, rtol=1e-2, atol=1e-2)
