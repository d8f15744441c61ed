"""Products with weights in each form that they are kept in."""

import keras
import numpy as np
import pytest
from keras import ops

from t2t_phrase.ops.product import columns, operand, product, quantized_weights
from t2t_phrase.ops.product_layout import kept
from t2t_phrase.ops.quantized import QuantizedMatrix, quantize, quantized_product

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2, 3, 8)).astype("float32")
MATRIX = RNG.normal(size=(8, 5)).astype("float32")
EXACT = ROWS.astype("float64") @ MATRIX


def variable(value: np.ndarray = MATRIX) -> keras.Variable:
    return keras.Variable(value)


@pytest.mark.parametrize("form", [variable, ops.convert_to_tensor, kept])
def test_every_form_has_the_same_product(form) -> None:
    np.testing.assert_allclose(product(ops.convert_to_tensor(ROWS), form(MATRIX)), EXACT, atol=1e-5)


def test_a_kernel_of_bfloat16_is_kept_transposed() -> None:
    rows, matrix = ops.cast(ROWS, "bfloat16"), ops.cast(MATRIX, "bfloat16")
    np.testing.assert_array_equal(product(rows, kept(matrix)), ops.matmul(rows, matrix))


def test_the_axes_of_a_kernel_of_ngrams_are_joined() -> None:
    found = product(ops.convert_to_tensor(ROWS), variable(MATRIX.reshape(2, 4, 5)))
    np.testing.assert_allclose(found, EXACT, atol=1e-5)


def test_integers_stand_in_for_one_variable_only() -> None:
    rows = ops.convert_to_tensor(ROWS)
    chosen, other = variable(), variable()
    before = np.asarray(product(rows, chosen))
    with quantized_weights({id(chosen): quantize(MATRIX)}):
        assert isinstance(operand(chosen, "float32"), QuantizedMatrix)
        found = product(rows, chosen)
        np.testing.assert_array_equal(product(rows, other), before)
    np.testing.assert_array_equal(found, quantized_product(rows, quantize(MATRIX)))
    assert np.abs(np.asarray(found) - before).max() > 1e-4
    np.testing.assert_array_equal(product(rows, chosen), before)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_columns_are_those_of_the_matrix(dtype: str) -> None:
    matrix = quantize(MATRIX) if dtype == "int8" else kept(ops.cast(MATRIX, dtype))
    numbers = np.array([3, 0], "int32")
    rows = ops.cast(ROWS, "float32" if dtype == "int8" else dtype)
    found = np.asarray(ops.cast(product(rows, columns(matrix, numbers)), "float32"))
    whole = np.asarray(ops.cast(product(rows, matrix), "float32"))
    np.testing.assert_allclose(found, whole[..., [3, 0]], rtol=1e-2)
