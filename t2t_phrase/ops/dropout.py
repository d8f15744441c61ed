"""Dropout as a pure function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from t2t_phrase.compile import traced, within_xla
from t2t_phrase.ops.random_bits import places, random_bits

# The number of values of a random number of 16 bits.
LEVELS = 1 << 16
# Lengths that masks are compiled for, each at most 1.25 times the one before.
_LENGTHS = [quarters << power for power in range(29) for quarters in (4, 5, 6, 7)]


def dropout(x: Any, rate: float, seed: Any) -> Any:
    """Return `x` with each element set to 0 with probability `rate`, the others scaled up.

        y = x * m / (1 - p)

    where an element of m is 0 with probability p, else 1. p is `rate` rounded to a multiple of
    1/65536, because each decision takes 16 random bits.

    Args:
        x: (...) float.
        rate: in [0, 1).
        seed: see `random_bits`.
    """
    # One product forward and one backward; a choice between values would be slower in both.
    dtype = keras.backend.standardize_dtype(x.dtype)
    return x * _mask(ops.shape(x), seed, drop_threshold(rate), dtype)


def drop_threshold(rate: float) -> int:
    """Return the number of the `LEVELS` values of 16 random bits that stand for "dropped"."""
    return min(round(rate * LEVELS), LEVELS - 1)


def _mask(shape: tuple[Any, ...], seed: Any, threshold: int, dtype: str) -> Any:
    """Return (*shape): 0 with probability threshold / LEVELS, else the factor for kept elements.

    Run one by one, each operation of the hash would take a pass over memory. So XLA compiles the
    mask even where it compiles nothing else: for a few lengths, from which the mask is cut.
    """
    count = places(shape)
    if within_xla():
        mask = _flat_mask(count, seed, threshold, dtype)
    else:
        lengths = ops.convert_to_tensor(_LENGTHS, "int32")
        length = lengths[ops.sum(ops.cast(lengths < count, "int32"))]
        mask = _compiled_mask(threshold, dtype)(length, seed)[:count]
    return ops.reshape(mask, shape)


def _flat_mask(count: Any, seed: Any, threshold: int, dtype: str) -> Any:
    keep = random_bits(count, seed) >= ops.cast(threshold, "uint16")
    return ops.cast(keep, dtype) * ops.cast(LEVELS / (LEVELS - threshold), dtype)


@functools.cache
def _compiled_mask(threshold: int, dtype: str) -> Callable[[Any, Any], Any]:
    return traced(lambda count, seed: _flat_mask(count, seed, threshold, dtype), jit_compile=True)
