"""Paired losses and their divergence against float64, gradients against differences."""

import math

import keras
import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.cross_entropy import smoothed_cross_entropy
from t2t_phrase.ops.paired_cross_entropy import paired_cross_entropy


def probabilities(logits: np.ndarray) -> list[float]:
    powers = [math.exp(value - max(logits)) for value in logits]
    return [power / sum(powers) for power in powers]


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    hidden, kernel = (random.normal(size=s).astype("float32") for s in ((10, 4), (7, 4)))
    return hidden, kernel, random.integers(0, 7, 5)


def test_the_divergence_is_the_mean_of_both_directions(arrays) -> None:
    hidden, kernel, labels = arrays
    _, found = paired_cross_entropy(hidden, kernel, labels, label_smoothing=0.1)
    logits = hidden.astype("float64") @ kernel.T
    for n in range(5):
        p, q = probabilities(logits[n]), probabilities(logits[5 + n])
        forwards = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
        backwards = sum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
        np.testing.assert_allclose(found[n], (forwards + backwards) / 2, rtol=1e-4)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_losses_are_those_of_each_prediction(arrays, label_smoothing: float) -> None:
    hidden, kernel, labels = arrays
    found, _ = paired_cross_entropy(hidden, kernel, labels, label_smoothing=label_smoothing)
    twice = np.concatenate([labels, labels])
    usual = smoothed_cross_entropy(hidden, kernel, twice, label_smoothing=label_smoothing)
    for ours, theirs in zip(found, usual, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_equal_distributions_do_not_diverge() -> None:
    same, kernel = np.ones((3, 4), "float32"), np.eye(6, 4, dtype="float32")
    labels = np.zeros(3, "int32")

    def divergence(first, second):
        pair = np.concatenate([first, second])
        return keras.ops.convert_to_numpy(
            paired_cross_entropy(pair, kernel, labels, label_smoothing=0.1)[1]
        )

    np.testing.assert_array_equal(divergence(same, same), np.zeros(3))
    far = 1e4 * same
    assert np.isfinite(divergence(far, -far)).all()


def objective(
    hidden: np.ndarray, kernel: np.ndarray, labels: np.ndarray, upstream: np.ndarray
) -> float:
    """Return the sum of smoothed losses and divergences, weighted by `upstream`, in float64."""
    logits = hidden @ kernel.T
    total = 0.0
    for n, label in enumerate(labels):
        p, q = probabilities(logits[n]), probabilities(logits[len(labels) + n])
        for row, z in ((n, logits[n]), (len(labels) + n, logits[len(labels) + n])):
            total += upstream[row] * reference.smoothed_loss(z, label, 0.1)
        divergence = sum((a - b) * math.log(a / b) for a, b in zip(p, q, strict=True)) / 2
        total += upstream[2 * len(labels) + n] * divergence
    return total


@pytest.mark.parametrize("xla", [None, False, True])
def test_gradients_are_those_of_differences(arrays, xla: bool | None) -> None:
    """`None`: operations run one by one, outside of any graph."""
    hidden, kernel, labels = arrays
    labels[1] = labels[0]  # whose rows of the gradient must add up
    upstream = np.random.default_rng(1).normal(size=15)

    def weighted(hidden, kernel):
        losses, divergence = paired_cross_entropy(hidden, kernel, labels, label_smoothing=0.1)
        weights = tf.constant(upstream, "float32")
        return tf.reduce_sum(weights * tf.concat([losses.smoothed, divergence], 0))

    def gradients(hidden, kernel):
        with tf.GradientTape() as tape:
            tape.watch([hidden, kernel])
            found = weighted(hidden, kernel)
        return tape.gradient(found, [hidden, kernel])

    run = gradients if xla is None else traced(gradients, jit_compile=xla)
    exact = [hidden.astype("float64"), kernel.astype("float64")]
    for number, found in enumerate(run(tf.constant(hidden), tf.constant(kernel))):
        for place in np.ndindex(exact[number].shape):
            near = []
            for step in (1e-5, -1e-5):
                moved = [x.copy() for x in exact]
                moved[number][place] += step
                near.append(objective(*moved, labels, upstream))
            slope = (near[0] - near[1]) / 2e-5
            np.testing.assert_allclose(found[place], slope, rtol=1e-4, atol=1e-4)
