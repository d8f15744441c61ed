"""The symmetric divergence against a loop in float64."""

import math

import numpy as np

from t2t_phrase.ops.divergence import symmetric_divergence


def probabilities(logits: np.ndarray) -> list[float]:
    powers = [math.exp(value - max(logits)) for value in logits]
    return [power / sum(powers) for power in powers]


def test_it_is_the_mean_of_both_directions() -> None:
    random = np.random.default_rng(0)
    first, second, kernel = (random.normal(size=s) for s in ((5, 4), (5, 4), (7, 4)))
    found = symmetric_divergence(*(x.astype("float32") for x in (first, second, kernel)))
    for n in range(5):
        p, q = probabilities(kernel @ first[n]), probabilities(kernel @ second[n])
        forwards = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
        backwards = sum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
        np.testing.assert_allclose(found[n], (forwards + backwards) / 2, rtol=1e-4)


def test_equal_distributions_do_not_diverge() -> None:
    same, kernel = np.ones((3, 4), "float32"), np.eye(6, 4, dtype="float32")
    np.testing.assert_array_equal(symmetric_divergence(same, same, kernel), np.zeros(3))
    far = 1e4 * same
    assert np.isfinite(symmetric_divergence(far, -far, kernel)).all()
