import random

import numpy as np
import pytest
import sacrebleu
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from spoiled_text import SpoiledText

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.ngram_precision import OrderPrecision, as_text, ngram_precisions

VERSION = sacrebleu.__version__


def sentences(seed, count=30, words="abc", most=12):
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, k=draw.randint(0, most))) for _ in range(count)]


def by_definition(hypotheses, references, order):
    """Return (right, all) n-grams: each counts as often as it occurs in the best reference."""

    def ngrams(line):
        words = line.split()
        return [words[start : start + order] for start in range(len(words) - order + 1)]

    right = total = 0
    for hypothesis, *own in zip(hypotheses, *references, strict=True):
        found = ngrams(hypothesis)
        total += len(found)
        for ngram in {tuple(ngram): ngram for ngram in found}.values():
            allowed = max(ngrams(reference).count(ngram) for reference in own)
            right += min(found.count(ngram), allowed)
    return right, total


@pytest.mark.parametrize("references", [1, 3])
def test_every_order_is_counted_as_defined(references):
    hypotheses = sentences(0)
    lists = [sentences(seed) for seed in range(1, 1 + references)]
    found = ngram_precisions(hypotheses, lists, orders=10).orders
    assert [row.order for row in found] == list(range(1, 11))
    for row in found:
        right, total = by_definition(hypotheses, lists, row.order)
        assert row.ngrams == total
        assert row.precision == pytest.approx(100 * np.float64(right) / total, abs=1e-12)
    assert 100 > found[0].precision > found[1].precision > found[2].precision > 0


def test_they_are_the_precisions_of_bleu():
    hypotheses, references = sentences(0, words="abcde.,"), sentences(1, words="ABcde.,")
    score = BLEU(lowercase=True, tokenize="intl", smooth_method="none").corpus_score(
        hypotheses, [references]
    )
    found = ngram_precisions(hypotheses, references, orders=4, tokenize="intl", lowercase=True)
    assert [row.precision for row in found.orders] == pytest.approx(score.precisions)
    assert found.signature == f"nrefs:1|case:lc|tok:intl|version:{VERSION}"
    plain = ngram_precisions(hypotheses, references, orders=4)
    assert plain.orders[0].precision < found.orders[0].precision
    assert plain.signature == f"nrefs:1|case:mixed|tok:13a|version:{VERSION}"


def test_p_is_that_of_sacrebleus_test():
    # The BLEU of one order is its precision, where translations are as long as references.
    text = SpoiledText(5, sentences=60)
    references = text.references
    ours, theirs = text.copy(0.30), text.copy(0.33)
    metric = {"bleu": BLEU(max_ngram_order=1, smooth_method="none")}
    systems = [("baseline", theirs), ("system", ours)]
    _, scores = PairedTest(systems, metric, [references], test_type="bs", n_samples=500)()
    expected = scores["BLEU"]
    found = ngram_precisions(ours, references, orders=2, baseline=theirs, resamples=500)
    row = found.orders[0]
    assert row.precision == pytest.approx(expected[1].score)
    assert row.baseline == pytest.approx(expected[0].score)
    # sacreBLEU adds in float32.
    assert row.p_value == pytest.approx(expected[1].p_value, abs=0.005)
    assert 0.01 < row.p_value < 0.99
    assert found.signature == f"nrefs:1|bs:500|seed:12345|case:mixed|tok:13a|version:{VERSION}"
    alone = ngram_precisions(ours, references, orders=1, baseline=theirs, resamples=500)
    assert alone.orders[0] == row


def test_the_test_set_is_resampled_for_each_order_alone():
    # Order 1 is right everywhere in both, order 2 only here.
    references = ["a b c d"] * 20
    found = ngram_precisions(references, references, orders=2, baseline=["d c b a"] * 20)
    one, two = found.orders
    assert (one.precision, one.baseline, one.difference, one.p_value) == (100, 100, 0, 1)
    assert (two.precision, two.baseline, two.difference) == (100, 0, 100)
    assert two.p_value < 0.01


def test_what_is_not_defined_is_neither_zero_nor_nan():
    found = ngram_precisions(["a b", "c"], ["a b c", "c d"], orders=3, baseline=["a b c", ""])
    assert found.orders[2] == OrderPrecision(3, 0, None, 100.0, None)
    assert found.orders[1].difference == 0.0
    assert found.orders[2].difference is None
    assert as_text(found).splitlines() == [
        "order  n-grams  precision  baseline  difference       p",
        "1            3     100.00    100.00       +0.00  1.0000",
        "2            1     100.00    100.00       +0.00       -",
        "3            0          -    100.00           -       -",
    ]
    empty = ngram_precisions(["", ""], ["a", "b"], orders=2)
    assert as_text(empty).splitlines()[1:] == [
        "1            0          -",
        "2            0          -",
    ]
    assert str(empty).startswith("n-gram precision  nrefs:1|")


def test_one_sentence_has_no_p_since_resampling_changes_nothing():
    references = ["a b c d", "e", "f"]
    found = ngram_precisions(
        ["a b c d", "e", "x"], references, orders=2, baseline=["a x c d", "e", "f"]
    )
    one, two = found.orders
    assert two.difference > 0 and two.p_value is None
    assert one.p_value is not None


def test_p_is_the_share_of_shifted_test_sets_without_those_that_lack_ngrams():
    references = [*sentences(1, count=12, words="ab", most=5), "a b a b a b"]
    ours, theirs = ([*sentences(seed, 12, "ab", 3), "a b a b a b"] for seed in (2, 3))
    found = ngram_precisions(ours, references, orders=3, baseline=theirs, resamples=200)
    draw, lacking = np.random.default_rng(12345), 0
    drawn = [draw.choice(13, size=13) for _ in range(200)]
    for row in found.orders:
        differences = []
        for chosen in drawn:
            precisions = []
            for system in (ours, theirs):
                lines, own = ([side[at] for at in chosen] for side in (system, references))
                right, total = by_definition(lines, [own], row.order)
                precisions.append(100 * right / total if total else None)
            if None in precisions:
                lacking += 1
            else:
                differences.append(precisions[0] - precisions[1])
        middle = sum(map(abs, differences)) / len(differences)
        above = sum(abs(value) - middle > abs(row.difference) for value in differences)
        assert row.difference and row.p_value == (above + 1) / (len(differences) + 1)
    assert lacking


@pytest.mark.parametrize("orders", [0, -1, 33])
def test_orders_out_of_range(orders):
    with pytest.raises(UserError, match=f"order {orders} is out of range; choose 1 to 32"):
        ngram_precisions(["a"], ["a"], orders=orders)


def test_mistakes_are_those_of_the_corpus_score():
    with pytest.raises(UserError, match="translation has 1 line and the reference has 2"):
        ngram_precisions(["a"], ["a", "b"])
    with pytest.raises(UserError, match="translation has 1 line and the reference has 2"):
        ngram_precisions(["a", "b"], ["a", "b"], baseline=["a"])
    with pytest.raises(UserError, match="there are no sentences to score"):
        ngram_precisions([], [])
    with pytest.raises(UserError, match="tokenize '14a' is unknown; did you mean 13a"):
        ngram_precisions(["a"], ["a"], tokenize="14a")


def test_bleu_is_not_disturbed_by_what_is_counted():
    lines = sentences(0)
    before = corpus_bleu(lines, sentences(1))
    ngram_precisions(lines, sentences(1), orders=8, lowercase=True)
    assert corpus_bleu(lines, sentences(1)) == before
