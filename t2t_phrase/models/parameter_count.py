"""Parameter counts of models, without allocating their variables."""

from __future__ import annotations

import concurrent.futures
import math

import keras

from t2t_phrase import registry
from t2t_phrase.training_hparams import TrainingHParams


def variable_shapes(hparams: TrainingHParams, *, vocab_size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights by path, without allocating them.

    Those that training would not change, as with `lora_rank`, are among them.
    """

    def build() -> dict[str, tuple[int, ...]]:
        with keras.StatelessScope(initialize_variables=False):
            model = registry.models[hparams.model].from_hparams(hparams, vocab_size=vocab_size)
        return {variable.path: tuple(variable.shape) for variable in model.weights}

    # Keras keeps a list of uninitialised variables for each thread. A separate thread makes sure
    # that these are forgotten.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(build).result()


def count_parameters(hparams: TrainingHParams, *, vocab_size: int) -> int:
    """Return the number of weights of the model of `hparams`."""
    return sum(map(math.prod, variable_shapes(hparams, vocab_size=vocab_size).values()))
