"""Products, casts and 8-bit integers of weights, computed once for all batches of a search."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.ops.product import quantized_weights
from t2t_phrase.ops.product_layout import KeptMatrix, kept, multiplied
from t2t_phrase.ops.quantized import QuantizedMatrix, quantize


class SearchWeights(NamedTuple):
    """Tensors that depend on a model's weights alone.

    Attributes:
        folded: from the model's `fold_weights`.
        cast: the weights whose type is not the one that the model computes with, cast to that type,
            by their number in `weights_to_compute_with`; kernels (..., U) as matrices, see
            `ops.product_layout`. Otherwise, layers would cast them in each step.
        quantized: kernels of 8-bit integers by the same number; layers multiply by these in place
            of the others.
    """

    folded: Any
    cast: dict[str, Any]
    quantized: dict[str, QuantizedMatrix]


class ConstantWeights(NamedTuple):
    """Weights with which a traced function is always called.

    Attributes:
        weights: the weights, see `ops.quantized.quantized_product`.
    """

    weights: SearchWeights


def prepare_weights(model: Any, *, quantized: bool = False) -> SearchWeights:
    """Return the prepared weights of an `EncoderDecoder`, for searches.

    Call it again when the weights have changed.

    Args:
        model: the model that has these weights.
        quantized: whether to multiply by 8-bit integers, see `ops.quantized`.
    """
    cast, integers = {}, {}
    for number, (variable, value) in enumerate(model.weights_to_compute_with()):
        if quantized and _is_kernel(variable):
            integers[str(number)] = quantize(ops.convert_to_tensor(variable))
        if value.dtype != variable.value.dtype:
            matrix = ops.reshape(value, (-1, value.shape[-1])) if _is_kernel(variable) else None
            cast[str(number)] = value if matrix is None else kept(matrix)
    folded = model.fold_weights()
    return SearchWeights(_quantized(folded) if quantized else folded, cast, integers)


@contextlib.contextmanager
def reading(model: Any, weights: SearchWeights, *, constant: bool) -> Iterator[None]:
    """Let the model read the prepared weights in place of its variables, within the context.

    Args:
        model: an `EncoderDecoder`.
        weights: of the model.
        constant: see `ops.quantized.quantized_product`.
    """
    scope = keras.StatelessScope()
    integers = {}
    for number, (variable, value) in enumerate(model.weights_to_compute_with()):
        cast = weights.cast.get(str(number), value)
        if isinstance(cast, KeptMatrix):
            cast = ops.reshape(multiplied(cast), variable.shape)
        # `state_mapping` would cast the values back to the type of the variables.
        scope.add_update((variable, cast))
        if str(number) in weights.quantized:
            integers[id(variable)] = weights.quantized[str(number)]
    with scope, quantized_weights(integers, constant=constant):
        yield


def expansion_reading(
    model: Any, weights: SearchWeights, expansion: Expansion, *, constant: bool
) -> Expansion:
    """Return an expansion that reads the weights as in `reading`, within the loop of the search.

    Args:
        model: an `EncoderDecoder`, which `expansion` steps.
        weights: of the model.
        expansion: continues hypotheses.
        constant: see `reading`.
    """
    if not weights.cast and not weights.quantized:
        return expansion

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        with reading(model, weights, constant=constant):
            return expansion.expand(alive, index, cache)

    return expansion._replace(expand=expand)


def _quantized(folded: Any) -> Any:
    """Return folded weights with 8-bit integers in place of each `KeptMatrix`."""
    if isinstance(folded, KeptMatrix):
        return quantize(multiplied(folded))
    if isinstance(folded, dict):
        return {name: _quantized(part) for name, part in folded.items()}
    if isinstance(folded, list):
        return [_quantized(part) for part in folded]
    return folded


def _is_kernel(variable: keras.Variable) -> bool:
    return variable.name.endswith("kernel") and len(variable.shape) > 1
