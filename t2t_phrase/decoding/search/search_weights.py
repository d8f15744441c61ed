"""What a search makes of the weights, once for all batches: products of them, and casts."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras


class SearchWeights(NamedTuple):
    """What is made of a model's weights before any source is known.

    Attributes:
        folded: from the model's `fold_weights`.
        cast: the weights whose type is not the one that the model computes with, in that type, by
            their number in `weights_to_compute_with`. Layers would cast them to the same in each
            step.
    """

    folded: Any
    cast: dict[str, Any]


def prepare_weights(model: Any) -> SearchWeights:
    """Return what searches with an `EncoderDecoder` need of its weights.

    Call it anew when the weights have changed.
    """
    cast = {
        str(number): value
        for number, (variable, value) in enumerate(model.weights_to_compute_with())
        if value.dtype != variable.value.dtype
    }
    return SearchWeights(model.fold_weights(), cast)


def reading(model: Any, weights: SearchWeights) -> keras.StatelessScope:
    """Return a scope in which the model reads `weights.cast` in place of the variables."""
    scope = keras.StatelessScope()
    for number, variable in enumerate(v for v, _ in model.weights_to_compute_with()):
        # `state_mapping` would cast the values back to the type of the variables.
        scope.add_update((variable, weights.cast.get(str(number), variable.value)))
    return scope
