"""Initial values of weights.

Without a seed, an initializer of Keras returns the same numbers in every call: make one per weight.
"""

from __future__ import annotations

import keras


def kernel_initializer(scale: float = 1.0) -> keras.initializers.Initializer:
    """Return T2T's `uniform_unit_scaling`: uniform, variance 1 over the mean of fan-in and -out.

    Args:
        scale: the numerator of the variance, in place of 1.
    """
    return keras.initializers.VarianceScaling(scale=scale, mode="fan_avg", distribution="uniform")


def uniform(spread: float) -> keras.initializers.Initializer | None:
    """Return a new initializer, uniform between -`spread` and `spread`; None if `spread` is 0."""
    return keras.initializers.RandomUniform(-spread, spread) if spread else None
