"""Tables of several systems."""

import csv
import io
import json

import numpy as np
import pytest
from spoiled_text import REVEALING, disguised, revealed

from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.significance import paired_bootstrap
from t2t_phrase.evaluation.systems import compare_systems
from t2t_phrase.evaluation.table import FORMATS, format_table

REFERENCE = [f"the house number {n} is red and old" for n in range(40)]
GOOD = [line if n % 4 else line.replace("red", "blue") for n, line in enumerate(REFERENCE)]
BAD = [line.replace("old", "new").replace("house", "dog") for line in REFERENCE]


def test_scores_are_those_of_single_comparisons():
    found = compare_systems({"bad": BAD, "good": GOOD}, REFERENCE, metrics=["bleu", "chrf"])
    assert list(found.systems) == ["bad", "good"]
    for metric, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        for system, lines in (("bad", BAD), ("good", GOOD)):
            expected = corpus_score(metric, lines, REFERENCE).value
            assert found.systems[system][name].value == pytest.approx(expected)
        (pair,) = paired_bootstrap(GOOD, BAD, REFERENCE, metrics=[metric])
        assert found.systems["good"][name].p_value == pytest.approx(pair.p_value)
        assert found.systems["bad"][name].p_value is None
        assert found.systems["good"][name].interval > 0


def test_intervals_are_those_of_resampled_test_sets():
    found = compare_systems({"bad": BAD, "good": GOOD}, REFERENCE, resamples=40)
    for system, lines in (("bad", BAD), ("good", GOOD)):
        draw, scores = np.random.default_rng(12345), []
        for _ in range(40):
            chosen = draw.choice(40, size=40)
            texts = [[side[at] for at in chosen] for side in (lines, REFERENCE)]
            scores.append(corpus_score("bleu", *texts).value)
        own, ordered = found.systems[system]["BLEU"], sorted(scores)
        assert own.mean == pytest.approx(np.mean(scores))
        # 95% of 40 scores are all but the lowest and the highest one.
        assert own.interval == pytest.approx((ordered[-2] - ordered[1]) / 2)


def test_tokens_and_case_are_those_asked_for():
    bad, good = (disguised(lines) for lines in (BAD, GOOD))
    options = {"resamples": 20, "exchanges": 20}
    found = compare_systems(
        {"bad": bad, "good": good}, disguised(REFERENCE, upper=False), **options, **REVEALING
    )
    expected = compare_systems(
        {"bad": revealed(BAD), "good": revealed(GOOD)},
        revealed(REFERENCE),
        tokenize="none",
        **options,
    )
    assert found.systems == expected.systems and found.systems["good"]["BLEU"].value > 50


def test_each_system_is_compared_by_exchange_with_the_first():
    systems = {"bad": BAD, "good": GOOD, "same": list(BAD)}
    found = compare_systems(systems, REFERENCE, resamples=20, exchanges=200).systems
    assert found["bad"]["BLEU"].p_randomised is None
    assert found["good"]["BLEU"].p_randomised < 0.05 < found["same"]["BLEU"].p_randomised == 1.0


def test_equal_systems_do_not_differ():
    found = compare_systems({"one": GOOD, "other": list(GOOD)}, REFERENCE)
    assert found.systems["other"]["BLEU"].p_value == 1


@pytest.mark.parametrize(("differing", "least"), [(1, 1.0), (2, 0.5), (5, 1 / 16)])
def test_few_sentences_are_not_significant_by_exchange(differing, least):
    """All are better, so only exchanges of none or all of them have as large a difference."""
    better = REFERENCE[:differing] + BAD[differing:]
    # The same counts for BLEU, and therefore not one more sentence that differs.
    better[-1] = better[-1].replace("new", "odd")
    found = compare_systems({"bad": BAD, "better": better}, REFERENCE, exchanges=2000)
    assert found.systems["better"]["BLEU"].p_randomised == pytest.approx(least, abs=0.02)


def test_the_table_has_a_row_for_each_system():
    found = compare_systems({"bad": BAD, "good": GOOD}, REFERENCE)
    header, rows = found.table()
    assert header == ["system", "BLEU", "BLEU 95%", "BLEU p"]
    assert [row[0] for row in rows] == ["bad", "good"] and rows[0][3] == "-"
    assert found.notes()[0].startswith("BLEU: nrefs:1|bs:1000|")


HEADER, ROWS = ["system", "BLEU"], [["a_b", "1.00"], ["c|d", "10.00"]]


def test_text_is_aligned():
    assert format_table(HEADER, ROWS, "text", notes=["n"]).splitlines() == [
        "system   BLEU",
        "a_b      1.00",
        "c|d     10.00",
        "n",
    ]


def test_other_formats_can_be_read_back():
    assert set(FORMATS) == {"text", "json", "csv", "markdown", "latex"}
    read = json.loads(format_table(HEADER, ROWS, "json", notes=["n"]))
    assert read == {
        "systems": [dict(zip(HEADER, row, strict=True)) for row in ROWS],
        "notes": ["n"],
    }
    text = format_table(HEADER, ROWS, "csv", notes=["n"])
    assert list(csv.reader(io.StringIO(text))) == [HEADER, *ROWS, ["# n"]]
    assert format_table(HEADER, ROWS, "markdown").splitlines()[2:] == [
        "| a_b | 1.00 |",
        "| c\\|d | 10.00 |",
    ]
    latex = format_table(HEADER, ROWS, "latex", notes=["n"]).splitlines()
    assert latex[0] == "% n" and r"a\_b & 1.00 \\" in latex
    assert "<" not in format_table(["p"], [["<0.0001"]], "latex")
