import random

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.significance import paired_bootstrap


@pytest.fixture(scope="module")
def systems():
    draw = random.Random(3)
    references = [" ".join(draw.choices("abcdefgh", k=12)) for _ in range(40)]

    def spoil(share):
        return [
            " ".join(word if draw.random() > share else "x" for word in line.split())
            for line in references
        ]

    return references, spoil(0.1), spoil(0.1), spoil(0.5)


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


def test_lengths_must_agree(systems):
    references, good, _, bad = systems
    with pytest.raises(UserError, match="translation has 39 lines and the reference 40"):
        paired_bootstrap(good, bad[:-1], references)
