"""Random states for JAX draw what TensorFlow's draw, whose integers have 64 bits."""

import numpy as np
import pytest
from mostly_slow import mostly_slow

from t2t_phrase.ops.random_bits import random_bits

jax_seeds = pytest.importorskip("t2t_phrase.training.jax_seeds", exc_type=ImportError)
PRIME = 2**31 - 1
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("bits", mostly_slow([1, 8, 17, 30, 31], 31))
def test_states_are_those_of_tensorflow_modulo_the_prime(bits: int) -> None:
    for _ in range(3):
        step, shards = int(RANDOM.integers(2**bits)), int(RANDOM.integers(1, 3000))
        shard, generators = int(RANDOM.integers(shards)), int(RANDOM.integers(1, 20))
        states = jax_seeds.seeds(2**32 - 1, step, shard, shards=shards, generators=generators)
        found = np.stack([np.asarray(state) for state in states]).astype(object)
        assert (found[:, 0] == 2**32 - 1).all() and (found[:, 1] <= PRIME).all()
        places = [((step * shards + shard) * generators + g) * 1024 for g in range(generators)]
        assert (found[:, 1] % PRIME).tolist() == [place % PRIME for place in places]


def test_draws_are_those_of_tensorflow() -> None:
    (state,) = jax_seeds.seeds(1234, 10**6, 3, shards=8, generators=1)
    place = (10**6 * 8 + 3) * 1024
    for draw in (0, 1, 7):
        expected = random_bits(40, np.array([1234, place + draw], np.int64))
        later = np.asarray(state).astype(np.int64) + np.array([0, draw])
        found = random_bits(40, later)
        np.testing.assert_array_equal(found, expected)
