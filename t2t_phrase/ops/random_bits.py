"""Random bits from a seed, as a hash of their positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

# A prime; the remainder of a seed fits all integer types of all devices.
_SEEDS = 2**31 - 1


def random_bits(count: Any, seed: Any) -> Any:
    """Return (count,) uint16, uniform random integers: a function of position and seed.

    Number i is the upper half of the first word of pcg3d(i, *seed) by Jarzynski and Olano (2020),
    "Hash Functions for GPU Rendering". Hashing takes a few operations, which XLA fuses with those
    that read the bits. TensorFlow's own generator takes several times as long on a CPU.

    Args:
        count: a number or a scalar, below $2^31$.
        seed: from `keras.random.SeedGenerator.next`, (2,) int.
    """
    seed = ops.cast(ops.mod(seed, _SEEDS), "uint32")
    place = ops.cast(ops.arange(count, dtype="int32"), "uint32")
    x, y, z = (
        value * ops.cast(1664525, "uint32") + ops.cast(1013904223, "uint32")
        for value in (place, seed[0], seed[1])
    )
    x = x + y * z
    y = y + z * x
    z = z + x * y
    half = ops.cast(16, "uint32")
    x, y, z = (ops.bitwise_xor(v, ops.right_shift(_word(v), half)) for v in (x, y, z))
    return ops.cast(ops.right_shift(_word(x + y * z), half), "uint16")


def _word(x: Any) -> Any:
    """Return the lower 32 bits of `x`: on PyTorch, Keras has 64 bits for uint32."""
    return ops.bitwise_and(x, 2**32 - 1) if keras.backend.backend() == "torch" else x


def places(shape: Sequence[Any]) -> Any:
    """Return the number of elements of a shape: an int where all lengths are known."""
    if all(isinstance(length, int) for length in shape):
        return math.prod(shape)
    return ops.prod(shape)
