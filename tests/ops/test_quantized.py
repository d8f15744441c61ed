"""Products of 8-bit integers, against loops over whole numbers in NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.ops.quantized import QuantizedMatrix, quantize, quantized_product

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2, 3, 40)).astype("float32")
MATRIX = (RNG.normal(size=(40, 7)) * 10.0 ** RNG.integers(-3, 3, size=7)).astype("float32")


def rounded(x: np.ndarray, most: int) -> tuple[list[int], float]:
    """Return whole numbers of at most `most`, and what they are multiples of."""
    scale = max(abs(float(value)) for value in x) / most
    return [round(float(value) / scale) for value in x] if scale else [0] * len(x), scale


def by_loops(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    product = np.zeros((len(rows), matrix.shape[1]))
    for i, row in enumerate(rows.astype("float64")):
        left, left_scale = rounded(row, 127)
        for j, column in enumerate(matrix.astype("float64").T):
            right, right_scale = rounded(column, 63)
            total = sum(a * b for a, b in zip(left, right, strict=True))
            product[i, j] = total * left_scale * right_scale
    return product


def ways() -> list[Any]:
    """The ways of computing the product: oneDNN, XLA, one operation after the other."""

    def compiled_by(xla: bool) -> Callable[..., Any]:
        return compiled(lambda x, q: quantized_product(x, QuantizedMatrix(*q)), xla=xla)

    return [
        pytest.param(compiled_by(False), id="graph"),
        pytest.param(compiled_by(True), id="xla"),
        pytest.param(lambda x, q: quantized_product(x, q), id="eager"),
    ]


def test_columns_are_rounded_to_the_nearest_integers() -> None:
    found = quantize(MATRIX)
    for j in range(MATRIX.shape[1]):
        integers, scale = rounded(MATRIX[:, j].astype("float64"), 63)
        np.testing.assert_array_equal(found.values[:, j], integers)
        np.testing.assert_allclose(found.largest[j], 63 * scale, rtol=1e-6)
    assert np.abs(found.values).max(axis=0).tolist() == [63] * 7


def test_leading_axes_of_a_kernel_are_joined() -> None:
    whole, joined = quantize(MATRIX), quantize(MATRIX.reshape(4, 10, 7))
    np.testing.assert_array_equal(whole.values, joined.values)
    assert joined.shape == (40, 7)


@pytest.mark.parametrize("way", ways())
def test_the_product_is_that_of_integers(way: Callable[..., Any]) -> None:
    found = np.asarray(way(ops.convert_to_tensor(ROWS), quantize(MATRIX)))
    expected = by_loops(ROWS.reshape(6, 40), MATRIX)
    assert found.shape == (2, 3, 7) and found.dtype == np.float32
    np.testing.assert_allclose(found.reshape(6, 7), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("way", ways())
def test_a_row_does_not_depend_on_other_rows(way: Callable[..., Any]) -> None:
    matrix = quantize(MATRIX)
    apart = ops.convert_to_tensor(np.concatenate([ROWS[:1, :1] * 1e4, ROWS[:1, 1:2]], axis=1))
    together = np.asarray(way(apart, matrix))
    np.testing.assert_array_equal(
        together[:, 1:], way(ops.convert_to_tensor(ROWS[:1, 1:2]), matrix)
    )


@pytest.mark.parametrize("way", ways())
def test_zeros_have_the_product_zero(way: Callable[..., Any]) -> None:
    rows = np.concatenate([np.zeros((1, 40)), ROWS[0]]).astype("float32")
    matrix = np.concatenate([MATRIX[:, :3], np.zeros((40, 1))], axis=1).astype("float32")
    found = np.asarray(way(ops.convert_to_tensor(rows), quantize(matrix)))
    np.testing.assert_array_equal(found[0], np.zeros(4))
    np.testing.assert_array_equal(found[:, 3], np.zeros(4))
    assert np.abs(found[1:, :3]).min() > 0


def test_the_result_has_the_type_of_the_rows() -> None:
    found = quantized_product(ops.cast(ROWS, "bfloat16"), quantize(MATRIX))
    assert "bfloat16" in str(found.dtype)
    exact = ROWS.reshape(6, 40).astype("float64") @ MATRIX
    error = np.abs(np.asarray(ops.cast(found, "float32")).reshape(6, 7) - exact)
    assert (error < 0.05 * np.abs(exact).max(axis=0)).all()
