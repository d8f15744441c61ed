"""The random states of dropout for JAX, whose integers have 32 bits."""

from __future__ import annotations

from typing import Any

from jax import numpy as jnp

# The modulus of seeds in `ops.random_bits`: 2^31 - 1, so 2^31 leaves 1, which makes division easy.
_PRIME = 2**31 - 1
# The draws of a generator in one step take this many successive numbers.
_DRAWS = 1024


def seeds(seed: int, step: Any, shard: Any, *, shards: int, generators: int) -> list[Any]:
    """Return a state (2,) uint32 for every generator; each draw adds to its second number.

    The numbers drawn are those that TensorFlow draws with (seed, place), where

        place = ((step * shards + shard) * generators + index) * 1024

    Args:
        seed: below 2^32.
        step: scalar, the number of updates made.
        shard: scalar, the number of the part of the batch.
        shards: number of parts of the batch.
        generators: number of generators in the model.
    """
    begin = _times(jnp.asarray(step, jnp.uint32), shards * generators * _DRAWS)
    begin = _rest(begin + _times(jnp.asarray(shard, jnp.uint32), generators * _DRAWS))
    places = _rest(begin + jnp.arange(generators, dtype=jnp.uint32) * _DRAWS)
    states = jnp.stack([jnp.full_like(places, seed), places], axis=1)
    return [states[index] for index in range(generators)]


def _rest(number: Any) -> Any:
    """Return a uint32 modulo the prime, or the prime itself for 0."""
    return (number & _PRIME) + (number >> 31)


def _times(number: Any, factor: int) -> Any:
    """Return the product of a uint32 below 2^31 and an integer, modulo the prime.

    Both are cut into halves of 16 bits, so that no product exceeds 32 bits.
    """
    factor %= _PRIME
    high, low = number >> 16, number & 0xFFFF
    factor_high, factor_low = jnp.uint32(factor >> 16), jnp.uint32(factor & 0xFFFF)
    # 2^32 leaves 2, and multiplication by 2^16 rotates 31 bits.
    highest = _rest(2 * (high * factor_high))
    middle = _rest(_rest(high * factor_low) + _rest(low * factor_high))
    middle = ((middle << 16) & _PRIME) | (middle >> 15)
    return _rest(_rest(highest + middle) + _rest(low * factor_low))
