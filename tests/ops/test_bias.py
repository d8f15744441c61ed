import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import compiled
from t2t_phrase.ops.bias import add_bias

RNG = np.random.default_rng(0)
X, BIAS = RNG.normal(size=(2, 3, 4)).astype("float32"), RNG.normal(size=4).astype("float32")
UPSTREAM = RNG.normal(size=X.shape).astype("float32")


def value_and_gradients(x: tf.Tensor, bias: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch([x, bias])
        y = add_bias(x, bias)
        loss = tf.reduce_sum(tf.cast(y, "float32") * UPSTREAM)
    return [y, *tape.gradient(loss, [x, bias])]


@pytest.mark.parametrize("xla", [False, True])
def test_value_and_gradients_equal_loops(xla: bool) -> None:
    y, x_grad, bias_grad = compiled(value_and_gradients, xla=xla)(tf.constant(X), tf.constant(BIAS))
    expected = np.zeros(4)
    for b, t in np.ndindex(2, 3):
        np.testing.assert_allclose(y[b, t], X[b, t] + BIAS, rtol=1e-6)
        expected += UPSTREAM[b, t]
    np.testing.assert_array_equal(x_grad, UPSTREAM)
    np.testing.assert_allclose(bias_grad, expected, atol=1e-5)


def test_a_float32_bias_of_bfloat16_has_a_float32_gradient() -> None:
    found = value_and_gradients(tf.cast(X, "bfloat16"), tf.constant(BIAS))
    assert [value.dtype for value in found] == [tf.bfloat16, tf.bfloat16, tf.float32]
    rounded = tf.cast(UPSTREAM, tf.bfloat16).numpy().astype("float64")
    np.testing.assert_allclose(found[2], rounded.sum((0, 1)), rtol=0.01, atol=0.01)
