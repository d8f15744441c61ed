import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.layer_norm import layer_norm

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, size=(2, 3, 6))
SCALE, OFFSET = RNG.normal(size=(2, 6))
UPSTREAM = RNG.normal(size=X.shape)


def definition(x: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> np.ndarray:
    return np.array([[reference.layer_norm(row, scale, offset) for row in rows] for rows in x])


def value_and_gradients(x: np.ndarray, dtype: str = "float32") -> list[tf.Tensor]:
    x = tf.cast(x, dtype)
    scale, offset = (tf.constant(weight, "float32") for weight in (SCALE, OFFSET))
    with tf.GradientTape() as tape:
        tape.watch([x, scale, offset])
        y = layer_norm(x, scale, offset, epsilon=1e-6)
        loss = tf.reduce_sum(tf.cast(y, "float32") * UPSTREAM.astype("float32"))
    return [y, *tape.gradient(loss, [x, scale, offset])]


def test_equals_loops() -> None:
    y = value_and_gradients(X)[0]
    np.testing.assert_allclose(y, definition(X, SCALE, OFFSET), atol=1e-5)


def test_gradients_equal_differences() -> None:
    _, *gradients = value_and_gradients(X)
    for number, gradient in enumerate(gradients):
        expected = np.zeros(gradient.shape)
        for place in np.ndindex(*gradient.shape):
            sums = []
            for step in (1e-5, -1e-5):
                moved = [X.copy(), SCALE.copy(), OFFSET.copy()]
                moved[number][place] += step
                sums.append((definition(*moved) * UPSTREAM).sum())
            expected[place] = (sums[0] - sums[1]) / 2e-5
        np.testing.assert_allclose(gradient, expected, atol=2e-5)


def test_graph_and_xla_equal_eager() -> None:
    eager = value_and_gradients(X)
    for xla in (False, True):
        compiled = traced(lambda: value_and_gradients(X), jit_compile=xla)
        for value, expected in zip(compiled(), eager, strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-5)


def test_bfloat16_is_computed_in_float32() -> None:
    rounded = np.asarray(tf.cast(tf.cast(X, tf.bfloat16), tf.float32))
    exact = value_and_gradients(rounded)
    found = value_and_gradients(rounded, "bfloat16")
    assert [value.dtype for value in found] == [tf.bfloat16, tf.bfloat16, tf.float32, tf.float32]
    for value, expected in zip(found, exact, strict=True):
        np.testing.assert_allclose(tf.cast(value, tf.float32), expected, atol=0.02, rtol=0.01)


@pytest.mark.parametrize("size", [1e-8, 1e6])
def test_extreme_inputs_stay_finite(size: float) -> None:
    for value in value_and_gradients(X * size):
        assert np.isfinite(value).all()


def test_epsilon_is_added_to_the_variance() -> None:
    """It counts where numbers differ little, or not at all."""
    x = np.concatenate([1e-3 * X, np.ones_like(X)], axis=1).astype("float32")
    scale, offset = (weight.astype("float32") for weight in (SCALE, OFFSET))
    found = layer_norm(tf.constant(x), scale, offset, epsilon=1e-6)
    np.testing.assert_allclose(found, definition(x.astype("float64"), scale, offset), atol=1e-4)
