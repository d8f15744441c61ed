"""Weights that are the same in every run and nowhere at their initial values."""

from typing import Any

import numpy as np


def randomize(layer: Any, seed: int = 0, deviation: float = 0.3) -> None:
    """Draw every trainable weight anew: scales around 1, all others around 0.

    Args:
        layer: a Keras layer or model, built.
        seed: of the draws.
        deviation: of the draws.
    """
    rng = np.random.default_rng(seed)
    for variable in layer.trainable_variables:
        center = 1.0 if variable.path.endswith("/gamma") else 0.0
        variable.assign(center + deviation * rng.normal(size=variable.shape))
