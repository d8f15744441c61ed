"""The fused loss against its definition in float64, its gradient against differences of that."""

import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf
from keras import ops

from t2t_phrase.ops.cross_entropy import smoothed_cross_entropy

N, D, V = 5, 4, 7


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    # Tokens 0 and 3 share a label, whose rows of the gradient must add up.
    labels = np.array([2, 0, 6, 2, 1], "int32")
    return rng.normal(size=(N, D)), rng.normal(size=(V, D)), labels


def definition(
    hidden: np.ndarray, kernel: np.ndarray, labels: np.ndarray, smoothing: float
) -> np.ndarray:
    rows = zip(hidden @ kernel.T, labels, strict=True)
    return np.array([reference.smoothed_loss(logits, label, smoothing) for logits, label in rows])


def losses_and_gradients(
    hidden: np.ndarray,
    kernel: np.ndarray,
    labels: np.ndarray,
    upstream: np.ndarray,
    smoothing: float,
) -> tuple:
    hidden, kernel = (tf.constant(x, tf.float32) for x in (hidden, kernel))
    with tf.GradientTape() as tape:
        tape.watch([hidden, kernel])
        losses = smoothed_cross_entropy(hidden, kernel, labels, label_smoothing=smoothing)
        loss = tf.reduce_sum(losses.smoothed * tf.constant(upstream, tf.float32))
    return losses, tape.gradient(loss, [hidden, kernel])


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_values(arrays: tuple, smoothing: float) -> None:
    hidden, kernel, labels = arrays
    losses, _ = losses_and_gradients(*arrays, np.ones(N), smoothing)
    np.testing.assert_allclose(losses.smoothed, definition(*arrays, smoothing), atol=1e-5)
    np.testing.assert_allclose(losses.nll, definition(*arrays, 0.0), atol=1e-5)
    best = (hidden @ kernel.T).argmax(axis=1)
    np.testing.assert_array_equal(losses.correct, best == labels)


def test_correct_counts_the_best_tokens(arrays: tuple) -> None:
    hidden, kernel, _ = arrays
    best = (hidden @ kernel.T).argmax(axis=1).astype("int32")
    worst = (hidden @ kernel.T).argmin(axis=1).astype("int32")
    mixed = np.where(np.arange(N) < 2, best, worst)
    losses, _ = losses_and_gradients(hidden, kernel, mixed, np.ones(N), 0.1)
    np.testing.assert_array_equal(losses.correct, [1, 1, 0, 0, 0])


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_equal_differences_of_the_definition(arrays: tuple, smoothing: float) -> None:
    hidden, kernel, labels = arrays
    upstream = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    _, gradients = losses_and_gradients(*arrays, upstream, smoothing)
    for which, gradient in enumerate(gradients):
        expected = np.zeros(gradient.shape)
        for place in np.ndindex(*gradient.shape):
            sums = []
            for nudge in (1e-5, -1e-5):
                moved = [hidden.copy(), kernel.copy()]
                moved[which][place] += nudge
                sums.append((definition(*moved, labels, smoothing) * upstream).sum())
            expected[place] = (sums[0] - sums[1]) / 2e-5
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_only_the_smoothed_loss_has_a_gradient(arrays: tuple) -> None:
    hidden, kernel, labels = (tf.constant(x) for x in arrays)
    hidden, kernel = tf.cast(hidden, tf.float32), tf.cast(kernel, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([hidden, kernel])
        losses = smoothed_cross_entropy(hidden, kernel, labels, label_smoothing=0.1)
        loss = tf.reduce_sum(losses.nll) + tf.reduce_sum(losses.correct)
    assert tape.gradient(loss, [hidden, kernel]) == [None, None]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_perfect_model_has_loss_zero(smoothing: float) -> None:
    label = 3
    target = np.full(V, max(smoothing, 1e-9) / (V - 1))
    target[label] = 1 - smoothing
    losses = smoothed_cross_entropy(
        np.ones((1, 1), "float32"),
        np.log(target)[:, None].astype("float32"),
        np.array([label]),
        label_smoothing=smoothing,
    )
    np.testing.assert_allclose(losses.smoothed, [0], atol=1e-6)


def test_extreme_logits_stay_finite_and_right(arrays: tuple) -> None:
    hidden, kernel, labels = arrays[0] * 1e3, arrays[1], arrays[2]
    losses, gradients = losses_and_gradients(hidden, kernel, labels, np.ones(N), 0.1)
    expected = definition(hidden, kernel, labels, 0.1)
    assert expected.max() > 500
    np.testing.assert_allclose(losses.smoothed, expected, rtol=1e-5)
    for gradient in gradients:
        assert np.isfinite(gradient).all()


def test_graph_and_xla_equal_eager(arrays: tuple) -> None:
    upstream = np.linspace(-1, 2, N)

    def run() -> list:
        losses, gradients = losses_and_gradients(*arrays, upstream, 0.1)
        return [*losses, *gradients]

    eager = run()
    for xla in (False, True):
        for value, expected in zip(tf.function(run, jit_compile=xla)(), eager, strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-5)


def test_bfloat16_is_close_to_float32(arrays: tuple) -> None:
    hidden, kernel, labels = arrays
    low = [ops.cast(tf.constant(x), "bfloat16") for x in (hidden, kernel)]
    with tf.GradientTape() as tape:
        tape.watch(low)
        losses = smoothed_cross_entropy(*low, labels, label_smoothing=0.1)
        loss = tf.reduce_sum(losses.smoothed)
    gradients = tape.gradient(loss, low)
    exact, exact_gradients = losses_and_gradients(*arrays, np.ones(N), 0.1)
    assert losses.smoothed.dtype == tf.float32
    np.testing.assert_allclose(losses.smoothed, exact.smoothed, atol=0.05)
    for gradient, expected in zip(gradients, exact_gradients, strict=True):
        assert gradient.dtype == tf.bfloat16
        np.testing.assert_allclose(ops.cast(gradient, "float32"), expected, atol=0.05)
