"""Products with weights, in whichever form a search keeps them.

Layers multiply with `product`. A search can make it multiply by 8-bit integers in place of a
layer's variable, see `quantized_weights`.

Shapes: D inputs, U outputs.
"""

from __future__ import annotations

import contextlib
import contextvars
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.ops.product_layout import KeptMatrix, kept, multiplied
from t2t_phrase.ops.quantized import QuantizedMatrix, quantized_product


class _Quantized(NamedTuple):
    """The arguments of `quantized_weights`."""

    matrices: Mapping[int, QuantizedMatrix] = types.MappingProxyType({})
    constant: bool = False


_QUANTIZED: contextvars.ContextVar[_Quantized | None] = contextvars.ContextVar(
    "quantized_weights", default=None
)


def product(x: Any, weights: Any) -> Any:
    """Return `x @ weights`, (..., U), of the type of `x`.

    Args:
        x: (..., D) float.
        weights: anything `operand` takes or returns; leading axes of a variable are joined to D.
    """
    weights = operand(weights, x.dtype)
    if isinstance(weights, QuantizedMatrix):
        return quantized_product(x, weights, constant=_quantized().constant)
    if isinstance(weights, KeptMatrix):
        weights = multiplied(weights)
    elif len(weights.shape) > 2:
        weights = ops.reshape(weights, (-1, weights.shape[-1]))
    return ops.matmul(x, weights)


def operand(weights: Any, dtype: Any) -> Any:
    """Return the matrix that `product` multiplies by; call this before a loop of such products.

    Args:
        weights: a variable (..., U), or a tensor, `KeptMatrix` or `QuantizedMatrix` (D, U).
        dtype: the type to cast a variable's value to.
    """
    if not isinstance(weights, keras.Variable):
        return weights
    found = _quantized().matrices.get(id(weights))
    return ops.cast(ops.convert_to_tensor(weights), dtype) if found is None else found


@contextlib.contextmanager
def quantized_weights(
    matrices: Mapping[int, QuantizedMatrix], *, constant: bool = False
) -> Iterator[None]:
    """Make `product` multiply by these matrices in place of variables within the context.

    Args:
        matrices: the matrices, by the `id` of the variable.
        constant: see `quantized_product`; holds for all products with 8-bit integers.
    """
    token = _QUANTIZED.set(_Quantized(matrices, constant))
    try:
        yield
    finally:
        _QUANTIZED.reset(token)


def columns(matrix: KeptMatrix | QuantizedMatrix, numbers: Any) -> KeptMatrix | QuantizedMatrix:
    """Return some columns of a matrix (D, U), in the form in which the matrix is kept.

    Args:
        matrix: a matrix as a search keeps it.
        numbers: (N,) int.
    """
    if isinstance(matrix, QuantizedMatrix):
        return QuantizedMatrix(*(ops.take(part, numbers, axis=-1) for part in matrix))
    return kept(ops.take(multiplied(matrix), numbers, axis=1))


def _quantized() -> _Quantized:
    return _QUANTIZED.get() or _Quantized()
