"""Dropout as a pure function."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.random_bits import random_bits

# Values of a random number of 16 bits.
LEVELS = 1 << 16


def dropout(x: Any, rate: float, seed: Any) -> Any:
    """Return `x` with each element set to 0 with probability `rate`, the others scaled up.

        y = x m / (1 - p),  m ~ Bernoulli(1 - p)

    p is `rate` rounded to a multiple of 1/65536, because each decision takes 16 random bits.

    Args:
        x: (...) float.
        rate: in [0, 1).
        seed: see `random_bits`.
    """
    threshold = min(round(rate * LEVELS), LEVELS - 1)
    keep = random_bits(ops.shape(x), seed) >= ops.cast(threshold, "uint16")
    # One product forward and one backward; a choice between values would be slower in both.
    return x * (ops.cast(keep, x.dtype) * ops.cast(LEVELS / (LEVELS - threshold), x.dtype))
