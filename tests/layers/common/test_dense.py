from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.common.dense import Dense

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")


def test_contract(check_layer: Callable) -> None:
    check_layer(lambda dtype: Dense(5, activation="relu", dtype=dtype), [X], weights=4 * 5 + 5)


@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_equals_that_of_keras(dtype: str, activation: str | None) -> None:
    layer = Dense(5, activation=activation, dtype=dtype)
    theirs = keras.layers.Dense(5, activation=activation, dtype=dtype)
    for one in (layer, theirs):
        one.build(X.shape)
    randomize(layer)
    theirs.set_weights(layer.get_weights())
    assert [v.name for v in layer.weights] == [v.name for v in theirs.weights]
    found, expected = (values_and_gradients(one) for one in (layer, theirs))
    tolerance = 1e-5 if dtype == "float32" else 0.02
    for ours, its in zip(found, expected, strict=True):
        assert ours.dtype == its.dtype
        ours, its = tf.cast(ours, "float32"), tf.cast(its, "float32")
        np.testing.assert_allclose(ours, its, rtol=tolerance, atol=tolerance)


def values_and_gradients(layer: keras.layers.Layer) -> list[tf.Tensor]:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
        loss = tf.reduce_sum(tf.cast(y, "float32") ** 2)
    return [y, *tape.gradient(loss, [x, *(v.value for v in layer.trainable_variables)])]
