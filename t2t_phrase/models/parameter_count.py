"""How many numbers a model learns, without making it."""

from __future__ import annotations

import concurrent.futures
import math

import keras

from t2t_phrase import registry
from t2t_phrase.models.transformer import TransformerHParams


def variable_shapes(hparams: TransformerHParams, *, vocab_size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all trainable variables by path; none is allocated."""

    def build() -> dict[str, tuple[int, ...]]:
        with keras.StatelessScope(initialize_variables=False):
            model = registry.models[hparams.model].from_hparams(hparams, vocab_size=vocab_size)
        return {variable.path: tuple(variable.shape) for variable in model.trainable_variables}

    # Keras lists variables that await their values by thread: in a thread of their own they go.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(build).result()


def count_parameters(hparams: TransformerHParams, *, vocab_size: int) -> int:
    """Return how many numbers the model of `hparams` learns."""
    return sum(map(math.prod, variable_shapes(hparams, vocab_size=vocab_size).values()))
