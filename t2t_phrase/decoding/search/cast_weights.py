"""Casts weights once for a search, which would otherwise cast them in each of its steps."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion


def with_cast_weights(model: Any, expansion: Expansion) -> Expansion:
    """Return an expansion that reads weights in the type that the model computes with.

    Call it where the search starts: the weights are cast there. Results do not change, because each
    layer casts its weights to the same type before it uses them.

    Args:
        model: an `EncoderDecoder`, which `expansion` steps.
        expansion: continues hypotheses.
    """
    weights = model.weights_to_compute_with()
    if all(value.dtype == variable.value.dtype for variable, value in weights):
        return expansion

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        scope = keras.StatelessScope()
        for weight in weights:
            # `state_mapping` would cast the values back to the type of the variables.
            scope.add_update(weight)
        with scope:
            return expansion.expand(alive, index, cache)

    return expansion._replace(expand=expand)
