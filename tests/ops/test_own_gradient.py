"""A gradient of one's own, with one output and with several, on TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.own_gradient import own_gradient


@own_gradient
def product(x, y):
    """Return x * y, with gradients that are twice and three times the true ones."""
    return x * y, lambda upstream: (2 * upstream * y, 3 * upstream * x)


@own_gradient
def parts(x):
    """Return x and x², with a gradient that tells the two upstream ones apart."""
    return (x, x * x), lambda first, second: first + 10 * second


@pytest.mark.parametrize("run", [lambda f: f, traced])
def test_the_gradient_is_the_given_one(run) -> None:
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([5.0, 7.0])
    with tf.GradientTape() as tape:
        found = run(lambda: product(tf.identity(x), tf.identity(y)))()
    np.testing.assert_array_equal(found, [5, 14])
    by_x, by_y = tape.gradient(found, [x, y])
    np.testing.assert_array_equal(by_x, [10, 14])
    np.testing.assert_array_equal(by_y, [3, 6])


@pytest.mark.parametrize(("scales", "expected"), [((1, 1), 11), ((1, 0), 1), ((0, 2), 20)])
def test_each_output_has_its_gradient(scales, expected) -> None:
    x = tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = parts(x)
        loss = scales[0] * first + scales[1] * second
    np.testing.assert_array_equal(first, [3])
    np.testing.assert_array_equal(second, [9])
    np.testing.assert_array_equal(tape.gradient(loss, x), [expected])
