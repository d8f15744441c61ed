import itertools

import numpy as np
import pytest
from spoiled_text import SpoiledText

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.significance import paired_bootstrap


@pytest.fixture(scope="module")
def texts():
    text = SpoiledText(5)
    return text.references, text.copy


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_one_seed_is_the_usual_test(texts, metric):
    references, spoil = texts
    ours, other = spoil(0.1), spoil(0.13)
    (usual,) = paired_bootstrap(ours, other, references, metrics=(metric,), resamples=300)
    p_value = pooled_p_value([ours], [other], references, metric=metric, resamples=300)
    assert 0.01 < p_value < 1 and p_value == pytest.approx(usual.p_value)


def test_mean_scores_of_the_same_sentences_are_compared(texts):
    references, spoil = texts
    ours, others = [spoil(0.1), spoil(0.12), spoil(0.1)], [spoil(0.12), spoil(0.12)]

    def mean(runs, rows):
        kept = [references[row] for row in rows]
        return np.mean([corpus_bleu([run[row] for row in rows], kept).value for run in runs])

    def difference(rows):
        return mean(ours, rows) - mean(others, rows)

    draw = np.random.default_rng(12345)
    resampled = [abs(difference(draw.choice(40, size=40))) for _ in range(100)]
    observed = abs(difference(range(40)))
    more = sum(value - np.mean(resampled) > observed for value in resampled)
    p_value = pooled_p_value(ours, others, references, resamples=100)
    assert p_value == pytest.approx((more + 1) / 101) and 0.02 < p_value < 0.98


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_equal_systems_do_not_differ_in_any_order_of_seeds(metric):
    for seed in range(4):
        text = SpoiledText(seed)
        runs = [text.copy(rate) for rate in (0.1, 0.2, 0.3)]
        # The means differ by rounding only.
        for others in itertools.permutations(runs):
            found = pooled_p_value(runs, others, text.references, metric=metric, resamples=20)
            assert found == 1.0


def test_lengths_must_agree(texts):
    references, spoil = texts
    with pytest.raises(UserError, match="translation has 39 lines and the reference has 40"):
        pooled_p_value([spoil(0.1)], [spoil(0.1)[1:]], references)
