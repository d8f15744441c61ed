"""Linear maps against NumPy, and their gradient in a loop that XLA compiles."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from t2t_phrase.compile import traced
from t2t_phrase.ops.linear import linear, map_states

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("length", [1, 3])
def test_it_is_the_matrix_product(length):
    x, kernel = RANDOM.normal(size=(2, length, 4)), RANDOM.normal(size=(4, 5))
    expected = np.zeros((2, length, 5))
    for row, time, unit in np.ndindex(expected.shape):
        expected[row, time, unit] = sum(x[row, time, i] * kernel[i, unit] for i in range(4))
    found = linear(x.astype("float32"), kernel.astype("float32"))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("length", "axes"), [(1, 2), (3, 3)])
def test_one_position_is_mapped_without_its_axis(length, axes):
    seen = []
    x = np.ones((2, length, 4), "float32")
    found = map_states(lambda states: seen.append(len(states.shape)) or 2 * states, x)
    assert seen == [axes]
    np.testing.assert_array_equal(found, 2 * x)


def test_its_gradient_in_a_loop_of_unknown_batches_is_the_same_under_xla():
    def gradient(x, kernel):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            _, state = ops.while_loop(
                lambda time, state: time < 3,
                lambda time, state: (time + 1, ops.tanh(linear(state[:, None], kernel)[:, 0])),
                (0, x),
                maximum_iterations=3,
            )
            total = ops.sum(state)
        return tape.gradient(total, kernel)

    x, kernel = RANDOM.normal(size=(2, 4)), RANDOM.normal(size=(4, 4))
    given = [tf.constant(value, tf.float32) for value in (x, kernel)]
    signature = [tf.TensorSpec((None, 4), tf.float32), tf.TensorSpec((4, 4), tf.float32)]
    inner = traced(gradient, jit_compile=True)
    compiled = traced(lambda *given: inner(*given), input_signature=signature)
    np.testing.assert_allclose(compiled(*given), gradient(*given), rtol=1e-4, atol=1e-5)
