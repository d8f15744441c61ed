"""`seeds_figure.py` draws the scores of each system by updates and by length."""

import pytest
import seeds_figure
from sacrebleu import BLEU

SOURCES = ["a b", "a b c d e f", "c d", "b c d e f a"]  # two of dev, two of test
REFERENCES = ["u v w x y", "p q r s t", "v w x y z", "q r s t u"]
GOOD = [["u v w x y", "p q r s t"], ["v w x y z", "q r s t u"]]
WORSE = [["u v w x z", "p q r s t"], ["v w x y z", "q r s t p t"]]


def of_seeds(seeds):
    """Return translations of two seeds after 2 updates, where all are wrong, and after 4."""
    wrong = [["u v", "p q"]] * len(seeds)
    dev, test = zip(*seeds, strict=True)
    return {"2_dev": wrong, "2_test": wrong, "4_dev": list(dev), "4_test": list(test)}


def bleu(translations, references):
    scorer = BLEU(tokenize="none", force=True)
    return scorer.corpus_score(translations, [references]).score


def test_gains_are_of_the_last_update_by_range_of_source_words():
    texts = {"base": of_seeds([WORSE, WORSE]), "system": of_seeds([GOOD, WORSE])}
    found = seeds_figure.by_length(texts, SOURCES, REFERENCES, [3], "none")
    short = bleu(["u v w x z", "v w x y z"], ["u v w x y", "v w x y z"])
    long = bleu(["p q r s t", "q r s t p t"], ["p q r s t", "q r s t u"])
    assert found["base"] == [0.0, 0.0]
    assert found["system"] == pytest.approx([(100 - short) / 2, (100 - long) / 2])
    assert found["system"][0] != pytest.approx(found["system"][1])


def test_curves_are_of_the_test_set():
    found = seeds_figure.by_updates(of_seeds([GOOD, WORSE]), REFERENCES[2:], "none")
    assert [*found] == [2, 4]
    assert found[4] == pytest.approx([100.0, bleu(WORSE[1], REFERENCES[2:])])


def test_the_figure_shows_means_ranges_and_gains():
    curves = {"base": {2: [10.0, 12.0], 4: [20.0, 21.0]}, "system": {2: [11.0, 15.0], 4: [30.0]}}
    gains = {"base": [0.0, 0.0], "system": [1.5, -0.5]}
    figure = seeds_figure.drawn(curves, gains, ["under 3", "from 3"])
    updates, lengths = figure.axes
    assert [box.get_label() for box in updates.containers] == ["base", "system"]
    line, _, (bars,) = updates.containers[1].lines
    assert line.get_xydata().tolist() == [[2, 13], [4, 30]]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[11, 15], [30, 30]]
    assert [bar.get_height() for bar in lengths.patches] == gains["system"]
    assert [label.get_text() for label in lengths.get_xticklabels()] == ["under 3", "from 3"]
    assert lengths.get_ylabel() == "gain in BLEU over base"
