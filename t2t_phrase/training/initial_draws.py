"""The random numbers that initial weights are made from, the same on every engine."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np

# Philox4x32-10 of Salmon et al. (2011), "Parallel Random Numbers: As Easy as 1, 2, 3".
_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_WORD, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
# The key with which TensorFlow hashes a seed into a key.
_SEEDING_KEY = (0x3EC8F720, 0x02461E29)
# TensorFlow's seeds are 32-bit integers; Keras takes larger ones modulo this.
_SEEDS = 2**31 - 2
# Counters that are hashed at once, which takes some MB.
_BLOCK = 2**18


@contextlib.contextmanager
def tensorflow_draws() -> Iterator[None]:
    """Let Keras' initializers draw the same numbers as with TensorFlow from the same seed.

    With TensorFlow this changes nothing. Otherwise uniform and normal numbers are made in NumPy;
    the former are the same bit for bit, the latter up to rounding.
    """
    if keras.backend.backend() == "tensorflow":
        yield
        return
    module: Any = sys.modules[keras.initializers.RandomNormal.__module__]
    original = module.random
    module.random = _Draws(original)
    try:
        yield
    finally:
        module.random = original


class _Draws:
    """Keras' random numbers for the backend, except for the distributions defined here."""

    def __init__(self, others: Any) -> None:
        self._others = others

    def __getattr__(self, name: str) -> Any:
        return getattr(self._others, name)

    def uniform(
        self,
        shape: Sequence[int],
        minval: float = 0.0,
        maxval: float = 1.0,
        dtype: Any = None,
        seed: Any = None,
    ) -> Any:
        if not isinstance(seed, int):
            return self._others.uniform(shape, minval, maxval, dtype=dtype, seed=seed)
        drawn = uniform(math.prod(shape), seed)
        low, high = np.float32(minval), np.float32(maxval)
        return _tensor(drawn * (high - low) + low, shape, dtype)

    def normal(
        self,
        shape: Sequence[int],
        mean: float = 0.0,
        stddev: float = 1.0,
        dtype: Any = None,
        seed: Any = None,
    ) -> Any:
        if not isinstance(seed, int):
            return self._others.normal(shape, mean, stddev, dtype=dtype, seed=seed)
        drawn = normal(math.prod(shape), seed)
        return _tensor(drawn * np.float32(stddev) + np.float32(mean), shape, dtype)


def uniform(count: int, seed: int) -> np.ndarray:
    """Return (count,) float32 in [0, 1), as `tf.random.stateless_uniform` with seed (seed, 0)."""
    return _floats(_words(count, seed))[:count]


def normal(count: int, seed: int) -> np.ndarray:
    """Return (count,) float32, up to rounding as `tf.random.stateless_normal`, seed (seed, 0)."""
    pairs = _floats(_words(count, seed)).reshape(-1, 2)
    radius = np.sqrt(np.float32(-2) * np.log(np.maximum(pairs[:, 0], np.float32(1e-7))))
    angle = np.float32(2 * math.pi) * pairs[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=1).ravel()[:count]


def _tensor(values: np.ndarray, shape: Sequence[int], dtype: Any) -> Any:
    return keras.ops.convert_to_tensor(values.reshape(tuple(shape)), dtype or keras.config.floatx())


def _floats(words: np.ndarray) -> np.ndarray:
    """Return numbers in [0, 1) whose fractions are the lower 23 bits of (N,) uint32."""
    return ((words & 0x7FFFFF) | 0x3F800000).view(np.float32) - np.float32(1)


def _words(count: int, seed: int) -> np.ndarray:
    """Return at least `count` uint32, a multiple of four."""
    scrambled = _philox(np.array([[seed % _SEEDS, 0, 0, 0]], np.uint64), _SEEDING_KEY)[0]
    key = (int(scrambled[0]), int(scrambled[1]))
    blocks = []
    for start in range(0, -(-count // 4), _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, -(-count // 4)), dtype=np.uint64)
        counters = np.zeros((len(numbers), 4), np.uint64)
        counters[:, 0] = numbers
        counters[:, 2:] = scrambled[2:]
        blocks.append(_philox(counters, key))
    return np.concatenate([*blocks, np.zeros((0, 4), np.uint32)]).ravel()


def _philox(counters: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Return (N, 4) uint32: the hashes of (N, 4) words, given as uint64."""
    a, b, c, d = counters.T
    first, second = map(np.uint64, key)
    for _ in range(_ROUNDS):
        product_a, product_c = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (
            (product_c >> _HALF) ^ b ^ first,
            product_c & _WORD,
            (product_a >> _HALF) ^ d ^ second,
            product_a & _WORD,
        )
        first, second = (first + _KEY_STEPS[0]) & _WORD, (second + _KEY_STEPS[1]) & _WORD
    return np.stack([a, b, c, d], axis=1).astype(np.uint32)
