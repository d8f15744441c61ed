"""Initial weights of recurrent models."""

from __future__ import annotations

import keras


def uniform(spread: float) -> keras.initializers.Initializer | None:
    """Return a new initializer, uniform between -`spread` and `spread`; None: `spread` is 0."""
    return keras.initializers.RandomUniform(-spread, spread) if spread else None
