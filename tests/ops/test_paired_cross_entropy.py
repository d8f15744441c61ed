"""The paired losses against those of single predictions, and the divergence against a loop."""

import math

import keras
import numpy as np
import pytest

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
