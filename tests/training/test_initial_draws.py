"""What initial weights are drawn from is TensorFlow's, whatever the engine."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.training import initial_draws
from t2t_phrase.training.initial_draws import normal, tensorflow_draws, uniform

SEEDS = [0, 1234, 2**31 + 5]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [0, 1, 6, 4099])
def test_numbers_are_those_of_tensorflow(
    seed: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(initial_draws, "_BLOCK", 300)
    pair = tf.constant([seed % (2**31 - 2), 0], tf.int32)
    expected = tf.random.stateless_uniform((count,), pair)
    np.testing.assert_array_equal(uniform(count, seed), expected)
    expected = tf.random.stateless_normal((count,), pair)
    np.testing.assert_allclose(normal(count, seed), expected, atol=5e-6)


@pytest.mark.parametrize(
    "initializer",
    [
        keras.initializers.RandomUniform(-0.2, 0.1, seed=SEEDS[1]),
        keras.initializers.RandomNormal(0.5, 2.0, seed=SEEDS[1]),
        keras.initializers.VarianceScaling(0.7, "fan_avg", "uniform", seed=SEEDS[2]),
        keras.initializers.Orthogonal(seed=SEEDS[1]),
        keras.initializers.TruncatedNormal(seed=SEEDS[1]),
    ],
)
def test_initializers_draw_the_same(
    initializer: keras.initializers.Initializer, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = np.array(initializer((7, 5)))
    module = sys.modules[keras.initializers.RandomNormal.__module__]
    before = module.random  # type: ignore[attr-defined]
    with tensorflow_draws():
        assert module.random is before  # type: ignore[attr-defined]
    monkeypatch.setattr("keras.backend.backend", lambda: "jax")
    with tensorflow_draws():
        assert module.random is not before  # type: ignore[attr-defined]
        found = np.array(initializer((7, 5)))
    assert module.random is before  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, expected, atol=1e-5)
