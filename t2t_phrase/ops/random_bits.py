"""Random bits from a seed, as cheap as each backend has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops


def random_bits(shape: Sequence[Any], seed: Any) -> Any:
    """Return uniform random integers of 16 bits, (*shape) uint16: a function of shape and seed.

    `keras.random` spends 32 bits on each number. The generator is named, because the one that XLA
    would choose is many times slower on a CPU.

    Args:
        shape: numbers, or scalars where a graph is traced for unknown shapes.
        seed: what `keras.random.SeedGenerator.next` returns, (2,) int.
    """
    if keras.backend.backend() == "jax":
        import jax

        return jax.random.bits(seed, tuple(shape), "uint16")
    import tensorflow as tf

    # As Keras does, because not every device draws from seeds of 64 bits.
    seed = tf.cast(tf.math.floormod(tf.cast(seed, tf.int64), tf.int32.max - 1), tf.int32)
    *others, last = shape
    pairs_end_rows = isinstance(last, int) and last % 2 == 0
    if pairs_end_rows:
        half: list[Any] = [*others, last // 2]
    else:
        count = math.prod(shape) if all(isinstance(n, int) for n in shape) else ops.prod(shape)
        half = [(count + 1) // 2]
    words = tf.random.stateless_uniform(
        half, seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    bits = tf.bitcast(words, tf.uint16)  # (..., 2)
    return tf.reshape(bits if pairs_end_rows else tf.reshape(bits, (-1,))[:count], shape)
