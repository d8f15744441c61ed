"""Random bits from a seed, as cheap as each compiler has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from keras import ops

from t2t_phrase.compile import within_xla

# The largest prime below 2^31. Not every device draws from seeds of 64 bits.
_SEEDS = 2**31 - 1


def random_bits(shape: Sequence[Any], seed: Any) -> Any:
    """Return uniform random integers of 16 bits, (*shape) uint16: a function of shape and seed.

    `keras.random` spends 32 bits on each number. Where operations run one by one, TensorFlow's
    Philox draws them. A program of XLA needs many times as long for Philox, and hashes their
    numbers instead; it draws the same by TensorFlow and by JAX, but not what Philox draws.

    Args:
        shape: numbers, or scalars where a graph is traced for unknown shapes.
        seed: what `keras.random.SeedGenerator.next` returns, (2,) int.
    """
    seed = ops.cast(ops.mod(seed, _SEEDS), "uint32")
    if all(isinstance(length, int) for length in shape):
        count: Any = math.prod(shape)
    else:
        count = ops.prod(shape)
    if within_xla():
        return ops.reshape(hashed_bits(count, seed), shape)
    return _philox_bits(shape, count, seed)


def hashed_bits(count: Any, seed: Any) -> Any:
    """Return (count,) uint16: the upper half of the first word of `pcg3d(i, *seed)`, i = 0, 1, ...

    Jarzynski and Olano (2020), "Hash Functions for GPU Rendering", Listing 5.

    Args:
        count: a number or a scalar, below 2^31.
        seed: (2,) uint32.
    """
    x = ops.cast(ops.arange(count, dtype="int32"), "uint32")
    x, y, z = (
        value * ops.cast(1664525, "uint32") + ops.cast(1013904223, "uint32")
        for value in (x, seed[0], seed[1])
    )
    x = x + y * z
    y = y + z * x
    z = z + x * y
    half = ops.cast(16, "uint32")
    x, y, z = (ops.bitwise_xor(value, ops.right_shift(value, half)) for value in (x, y, z))
    return ops.cast(ops.right_shift(x + y * z, half), "uint16")


def _philox_bits(shape: Sequence[Any], count: Any, seed: Any) -> Any:
    """Return (*shape) uint16, both halves of each word that TensorFlow draws."""
    import tensorflow as tf

    *others, last = shape
    pairs_end_rows = isinstance(last, int) and last % 2 == 0
    half: list[Any] = [*others, last // 2] if pairs_end_rows else [(count + 1) // 2]
    # The generator is named, so that every device draws the same.
    words = tf.random.stateless_uniform(
        half, tf.cast(seed, tf.int32), minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    bits = tf.bitcast(words, tf.uint16)  # (..., 2)
    return tf.reshape(bits if pairs_end_rows else tf.reshape(bits, (-1,))[:count], shape)
