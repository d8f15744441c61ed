"""Matrices of 8-bit integers, and products with them.

A matrix W has one scale for each column, and each row x that is multiplied by W gets one, too:

    Q = round(W / s_W),  q = round(x / s_x)
    x W = s_x (q Q) s_W

up to rounding, where s_x is a 127th of a row's largest absolute value, and s_W a 63rd of a
column's. $q Q$ is a product of integers. A row's result does not depend on other rows.

Columns have 7 bits, since CPUs without instructions for this (AVX-512 VNNI, AVX-VNNI) add pairs of
products in 16 bits with saturation, and 255 * 63 * 2 fits. So all CPUs give the same result.

Shapes: N rows, D inputs, U outputs.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.compile import within_xla

# The largest integer of a row; -128 is left out, so that zero is in the middle.
LARGEST = 127.0
# The largest integer of a column.
LARGEST_WEIGHT = 63.0
# Replaces the largest number of a row or column of zeros.
_TINY = 1e-30


class QuantizedMatrix(NamedTuple):
    """A matrix (D, U) of 8-bit integers.

    Attributes:
        values: (D, U) int8, Q.
        largest: (U,) float32, max |W|.
    """

    values: Any
    largest: Any

    @property
    def dtype(self) -> str:
        """The type of the products."""
        return "float32"

    @property
    def shape(self) -> Any:
        """(D, U)."""
        return self.values.shape


def quantize(matrix: Any) -> QuantizedMatrix:
    """Return the nearest matrix of 8-bit integers.

    Args:
        matrix: (..., U) float; leading axes are joined to D.
    """
    matrix = ops.cast(ops.reshape(matrix, (-1, matrix.shape[-1])), "float32")
    largest = _largest(matrix, axis=0)
    return QuantizedMatrix(
        ops.cast(ops.round(matrix * (LARGEST_WEIGHT / largest)), "int8"), largest
    )


def quantized_product(x: Any, matrix: QuantizedMatrix, *, constant: bool = False) -> Any:
    """Return `x @ matrix`, (..., U), of the type of `x`.

    Args:
        x: (..., D) float.
        matrix: (D, U).
        constant: whether the traced function is always called with this matrix. A CPU then keeps
            the matrix in the layout that its products read, and would not notice a different one.
    """
    inputs, units = matrix.shape
    rows = ops.cast(ops.reshape(x, (-1, inputs)), "float32")
    largest = _largest(rows, axis=-1)[:, None]
    integers = ops.cast(ops.round(rows * (LARGEST / largest)), "int8")
    if _by_onednn():
        products = _onednn_product(integers, matrix, constant)
    else:
        # The sums of integers are exact in float32 up to 2 ** 24.
        sums = ops.matmul(ops.cast(integers, "float32"), ops.cast(matrix.values, "float32"))
        products = sums * (matrix.largest / LARGEST_WEIGHT)
    products = ops.reshape(products * (largest / LARGEST), (*ops.shape(x)[:-1], units))
    return ops.cast(products, x.dtype)


def _largest(x: Any, axis: int) -> Any:
    return ops.maximum(ops.max(ops.abs(x), axis=axis), _TINY)


def _by_onednn() -> bool:
    """Return whether the function that is being traced multiplies integers as such."""
    if keras.backend.backend() != "tensorflow" or within_xla():
        return False
    import tensorflow as tf

    return not tf.executing_eagerly() and _onednn_is_there()


@functools.cache
def _onednn_is_there() -> bool:
    """Return whether TensorFlow has oneDNN's product of integers and sees no GPU."""
    import tensorflow as tf

    if tf.config.list_logical_devices("GPU"):
        return False
    try:
        with tf.init_scope():
            one = QuantizedMatrix(tf.ones((1, 1), tf.int8), tf.fill((1,), LARGEST_WEIGHT))
            found = tf.function(lambda: _onednn_product(one.values, one, False), autograph=False)()
            return bool(found == 1.0)
    except (tf.errors.OpError, ValueError):
        return False


def _onednn_product(integers: Any, matrix: QuantizedMatrix, constant: bool) -> Any:
    """Return $q Q s_W$, (N, U) float32, of integers q (N, D)."""
    # TensorFlow creates this operation where it finds a quantised model in a graph, and has no
    # function for it.
    import tensorflow as tf
    from tensorflow.core.framework.attr_value_pb2 import AttrValue

    def types(*found: Any) -> Any:
        return AttrValue(list=AttrValue.ListValue(type=[each.as_datatype_enum for each in found]))

    largest = tf.constant(LARGEST)
    # The operation assumes that the largest number is stored as 127.
    scales = matrix.largest * (LARGEST / LARGEST_WEIGHT)
    no_bias = tf.zeros((matrix.shape[-1],))
    inputs = [
        tf.bitcast(integers, tf.qint8),
        tf.bitcast(matrix.values, tf.qint8),
        no_bias,
        # The least and the greatest number; only the larger absolute value counts.
        largest,
        largest,
        scales,
        scales,
    ]
    integer, real = (AttrValue(type=each.as_datatype_enum) for each in (tf.qint8, tf.float32))
    attributes = {
        "T1": integer,
        "T2": integer,
        "Tbias": real,
        "U": real,
        "Tout": real,
        "Tdevice_inputs": types(*(tensor.dtype for tensor in inputs)),
        "Thost_inputs": types(),
        "Tdevice_outputs": types(tf.float32),
        "Thost_outputs": types(),
        "is_weight_const": AttrValue(b=constant),
        "is_bias_const": AttrValue(b=False),
        "input_quant_mode": AttrValue(s=b"SCALED"),
        "output_quant_mode": AttrValue(s=b"SCALED"),
        "fused_ops": AttrValue(list=AttrValue.ListValue(s=[b"BiasAdd", b"Dequantize"])),
    }
    graph = tf.compat.v1.get_default_graph()
    made = graph.create_op(
        "_QuantizedMatMul", inputs, [tf.float32], name="quantized_product", attrs=attributes
    )
    return made.outputs[0]
