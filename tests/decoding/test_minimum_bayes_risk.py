import numpy as np
import pytest
from sacrebleu import sentence_chrf

from t2t_phrase.decoding import minimum_bayes_risk
from t2t_phrase.decoding.hypothesis import Hypothesis
from t2t_phrase.decoding.minimum_bayes_risk import by_expected_chrf, chrf_of_pairs

TEXTS = [
    "Ein Haus steht am Fluss .",
    "Das Haus steht an einem Fluss .",
    "Ein Haus steht am Fluss .",
    "",
    "x",
    "ein haus",
    "日本 語の 文",
    "aaaaaaaaaaaa aaa",
    "Ein Haus, Ein Haus, Ein Haus",
]


def test_chrf_is_sacrebleus() -> None:
    found = chrf_of_pairs(TEXTS)
    expected = [[sentence_chrf(own, [other]).score for other in TEXTS] for own in TEXTS]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_samples_are_ranked_by_their_mean_over_all() -> None:
    samples = [Hypothesis(text, -float(i)) for i, text in enumerate(TEXTS)]
    found = by_expected_chrf(samples)
    means = {
        text: np.mean([sentence_chrf(text, [other]).score for other in TEXTS]) for text in TEXTS
    }
    assert [each.text for each in found] == sorted(TEXTS, key=lambda text: -means[text])
    for each in found:
        np.testing.assert_allclose(each.expected_chrf, means[each.text], rtol=1e-12)
    # Of equal texts, the likelier one comes first.
    assert [each.score for each in found if each.text == TEXTS[0]] == [0.0, -2.0]


def test_the_order_of_the_samples_makes_no_difference() -> None:
    samples = [Hypothesis(text, -float(i)) for i, text in enumerate(TEXTS)]
    expected = by_expected_chrf(samples)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(samples))
        assert by_expected_chrf([samples[place] for place in order]) == expected


def test_n_grams_are_compared_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the product of the numbers of texts and of n-grams."""
    expected, zeros, sizes = chrf_of_pairs(TEXTS), np.zeros, []

    def recorded(shape: tuple[int, int], *args: str) -> np.ndarray:
        sizes.append(shape)
        return zeros(shape, *args)

    monkeypatch.setattr(minimum_bayes_risk, "_BLOCK", 3)
    monkeypatch.setattr(np, "zeros", recorded)
    np.testing.assert_array_equal(chrf_of_pairs(TEXTS), expected)
    assert {*sizes} <= {(len(TEXTS), width) for width in (1, 2, 3, len(TEXTS))}
