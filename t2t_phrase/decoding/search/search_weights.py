"""Products and casts of weights, computed once for all batches of a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.ops.product_layout import kept, multiplied


class SearchWeights(NamedTuple):
    """Tensors that depend on a model's weights alone.

    Attributes:
        folded: from the model's `fold_weights`.
        cast: the weights whose type is not the one that the model computes with, in that type, by
            their number in `weights_to_compute_with`; kernels (..., U) as matrices, see
            `ops.product_layout`. Layers would cast them to the same in each step.
    """

    folded: Any
    cast: dict[str, Any]


def prepare_weights(model: Any) -> SearchWeights:
    """Return the prepared weights of an `EncoderDecoder`, for searches.

    Call it again when the weights have changed.
    """
    cast = {
        str(number): kept(ops.reshape(value, (-1, value.shape[-1])))
        if _is_kernel(variable)
        else value
        for number, (variable, value) in enumerate(model.weights_to_compute_with())
        if value.dtype != variable.value.dtype
    }
    return SearchWeights(model.fold_weights(), cast)


def reading(model: Any, weights: SearchWeights) -> keras.StatelessScope:
    """Return a scope in which the model reads `weights.cast` in place of the variables."""
    scope = keras.StatelessScope()
    for number, (variable, value) in enumerate(model.weights_to_compute_with()):
        cast = weights.cast.get(str(number))
        if cast is None:
            cast = value
        elif _is_kernel(variable):
            cast = ops.reshape(multiplied(cast), variable.shape)
        # `state_mapping` would cast the values back to the type of the variables.
        scope.add_update((variable, cast))
    return scope


def expansion_reading(model: Any, weights: SearchWeights, expansion: Expansion) -> Expansion:
    """Return an expansion that reads the weights as in `reading`, within the loop of the search.

    Args:
        model: an `EncoderDecoder`, which `expansion` steps.
        weights: of the model.
        expansion: continues hypotheses.
    """
    if not weights.cast:
        return expansion

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        with reading(model, weights):
            return expansion.expand(alive, index, cache)

    return expansion._replace(expand=expand)


def _is_kernel(variable: keras.Variable) -> bool:
    return variable.name.endswith("kernel") and len(variable.shape) > 1
