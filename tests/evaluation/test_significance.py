import numpy as np
import pytest
from spoiled_text import REVEALING, SpoiledText, disguised, revealed

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.significance import p_value_of, paired_bootstrap, resampled_sums


@pytest.fixture(scope="module")
def systems():
    text = SpoiledText(3)
    return text.references, text.copy(0.1), text.copy(0.1), text.copy(0.5)


def test_a_clear_difference_is_significant(systems):
    references, good, _, bad = systems
    bleu, ter = paired_bootstrap(good, bad, references, metrics=("bleu", "ter"), resamples=200)
    assert (bleu.name, ter.name) == ("BLEU", "TER")
    assert bleu.value == pytest.approx(corpus_bleu(good, references).value)
    assert bleu.baseline == pytest.approx(corpus_bleu(bad, references).value)
    assert bleu.value > bleu.baseline and ter.value < ter.baseline
    assert bleu.p_value < 0.01 and ter.p_value < 0.01
    assert "bs:200|" in bleu.signature and "tok:13a" in bleu.signature


def test_systems_of_the_same_quality_do_not_differ(systems):
    references, good, other, _ = systems
    (bleu,) = paired_bootstrap(good, other, references, resamples=200)
    assert bleu.p_value > 0.05


def test_a_comparison_reads_as_a_sentence(systems):
    references, good, _, bad = systems
    (bleu,) = paired_bootstrap(good, bad, references, resamples=100)
    assert str(bleu).startswith(
        f"BLEU: {bleu.value:.2f}, baseline {bleu.baseline:.2f}, difference +"
    )


def test_one_sentence_has_no_p_value():
    """All resampled test sets would be the same, so any difference would look significant."""
    texts = ["a b c d e f"], ["a b c d x f"], ["a b c d e f"]
    for found in paired_bootstrap(*texts, metrics=("bleu", "ter"), resamples=20):
        assert found.p_value is None and ", p = -  " in str(found)
    assert pooled_p_value(*([text] for text in texts[:2]), texts[2], resamples=20) is None


def test_tokens_and_case_are_those_asked_for(systems):
    references, good, other, _ = systems
    (expected,) = paired_bootstrap(
        *map(revealed, (good, other, references)), tokenize="none", resamples=50
    )
    texts = disguised(good), disguised(other), disguised(references, upper=False)
    (found,) = paired_bootstrap(*texts, resamples=50, **REVEALING)
    assert (found.value, found.p_value) == (expected.value, expected.p_value)
    assert found.value > 50 and "case:lc|eff:no|tok:intl" in found.signature


def test_lengths_must_agree(systems):
    references, good, _, bad = systems
    with pytest.raises(UserError, match="translation has 39 lines and the reference has 40"):
        paired_bootstrap(good, bad[:-1], references)


@pytest.mark.parametrize("seed", ["abc", "-1", "", "1.5", "0", "9" * 30])
def test_a_seed_that_is_none_is_refused(systems, seed, monkeypatch):
    references, good, _, bad = systems
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    with pytest.raises(UserError, match="set it to a positive number, or to none"):
        paired_bootstrap(good, bad, references)


def test_sums_of_resampled_sentences_are_reproducible(monkeypatch):
    counts = np.array([[1.0, 100.0], [2.0, 200.0], [4.0, 400.0]])
    sums = resampled_sums(counts, 50)
    assert sums.shape == (50, 2)
    np.testing.assert_array_equal(sums[:, 1], 100 * sums[:, 0])
    possible = {a + b + c for a in (1, 2, 4) for b in (1, 2, 4) for c in (1, 2, 4)}
    assert set(sums[:, 0]) <= possible and len(set(sums[:, 0])) > 5
    np.testing.assert_array_equal(resampled_sums(counts, 50), sums)
    np.testing.assert_array_equal(resampled_sums(counts, 20), sums[:20])
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    assert resampled_sums(counts, 50).tolist() != sums.tolist()
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    assert resampled_sums(counts, 50).tolist() != resampled_sums(counts, 50).tolist()


def test_test_sets_are_those_that_sacrebleu_draws():
    counts = np.arange(40.0)[:, None]
    drawn = np.random.default_rng(12345).choice(40, size=(30, 40), replace=True)
    np.testing.assert_array_equal(resampled_sums(counts, 30), counts[drawn].sum(axis=1))


def test_p_values():
    # The mean of the sizes is 2: shifted to -1, 1, 0.
    resampled = np.array([1.0, -3.0, 2.0])
    assert p_value_of(resampled, 0.5) == 2 / 4
    assert p_value_of(resampled, -1.5) == 1 / 4
    # Only larger ones count, as in sacreBLEU.
    assert p_value_of(resampled, 1.0) == 1 / 4
    assert p_value_of(resampled, 0.0) == p_value_of(resampled, -7e-15) == 1.0
    assert p_value_of(resampled[:0], 1.0) is None
