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


def half_kernel_initializer(width: int, units: int) -> keras.initializers.Initializer:
    """Return the initializer for (width, units), one half of a matrix (2 width, units)."""
    return kernel_initializer(scale=(width + units) / (2 * width + units))


def uniform(spread: float) -> keras.initializers.Initializer | None:
    """Return a new initializer, uniform between -`spread` and `spread`; None if `spread` is 0."""
    return keras.initializers.RandomUniform(-spread, spread) if spread else None
