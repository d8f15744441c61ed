"""P-values by exchanges, against a test that tries all of them."""

import itertools

import numpy as np
import pytest

from t2t_phrase.evaluation.approximate_randomisation import randomised
from t2t_phrase.evaluation.scores import make_metric

REFERENCES = [f"das Haus {n} ist rot und alt oder klein" for n in range(12)]
OPTIONS = {"tokenize": "13a", "lowercase": False}


def wrong(first, end):
    """Return translations with a wrong word in some sentences."""
    return [
        line.replace("rot", "blau") if first <= n < end else line
        for n, line in enumerate(REFERENCES)
    ]


def share_of_all_exchanges(metric, base, ours):
    """Return the share of all exchanges after which the difference is at least as large."""
    scorer = make_metric(metric, **OPTIONS)

    def difference(one, other):
        scores = [scorer.corpus_score(lines, [REFERENCES]).score for lines in (one, other)]
        return abs(scores[0] - scores[1])

    differing = [n for n, pair in enumerate(zip(base, ours, strict=True)) if len({*pair}) > 1]
    observed, as_large = difference(base, ours), 0
    for choice in itertools.product((False, True), repeat=len(differing)):
        one, other = list(base), list(ours)
        for place, exchanged in zip(differing, choice, strict=True):
            if exchanged:
                one[place], other[place] = other[place], one[place]
        as_large += difference(one, other) >= observed - 1e-9
    return as_large / 2 ** len(differing)


@pytest.mark.parametrize(("metric", "name"), [("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")])
def test_equal_differences_are_part_of_p(metric, name):
    """Six sentences are better and one is worse: many exchanges change nothing in the sum."""
    base, ours = wrong(0, 6), wrong(6, 7)
    exact = share_of_all_exchanges(metric, base, ours)
    assert exact > 0.1
    systems = {"base": base, "ours": ours}
    _, found = randomised(systems, REFERENCES, metrics=[metric], exchanges=1000, **OPTIONS)
    assert found[name] == [None, pytest.approx(exact, abs=0.04)]


def test_all_metrics_and_systems_have_the_same_exchanges(monkeypatch):
    systems = {"base": wrong(0, 6), "ours": wrong(6, 8), "same": wrong(0, 6), "again": wrong(6, 8)}
    options = {"exchanges": 300, **OPTIONS}
    signatures, found = randomised(systems, REFERENCES, metrics=["bleu", "ter"], **options)
    assert list(signatures) == list(found) == ["BLEU", "TER"]
    assert signatures["TER"].startswith("nrefs:1|ar:300|seed:12345|case:mixed|")
    for values in found.values():
        assert values[2] == 1.0 and values[1] == values[3]
    assert randomised(systems, REFERENCES, metrics=["ter"], **options)[1]["TER"] == found["TER"]
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    other = randomised(systems, REFERENCES, metrics=["ter"], **options)[1]["TER"]
    assert other != found["TER"] and other[1] == pytest.approx(found["TER"][1], abs=0.15)


def test_blocks_of_exchanges_are_one_test(monkeypatch):
    systems = {"base": wrong(0, 6), "ours": wrong(6, 8)}
    options = {"metrics": ["ter"], "exchanges": 50, **OPTIONS}
    expected = randomised(systems, REFERENCES, **options)
    monkeypatch.setattr("t2t_phrase.evaluation.approximate_randomisation._BLOCK", 7)
    assert randomised(systems, REFERENCES, **options) == expected
    assert np.isclose(expected[1]["TER"][1] * 51 % 1, 0)


def test_one_sentence_shows_nothing():
    systems = {"base": wrong(0, 1)[:1], "ours": REFERENCES[:1]}
    _, found = randomised(systems, REFERENCES[:1], metrics=["bleu"], exchanges=20, **OPTIONS)
    assert found == {"BLEU": [None, None]}
