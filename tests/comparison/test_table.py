"""Rows of systems, averaged over seeds and compared."""

import json
import statistics

import pytest

from t2t_phrase.comparison import table as tables

RUNS = [
    tables.Run("base", 1, 2_600_000, {"BLEU": 30.0, "TER": 60.0}),
    tables.Run("base", 2, 2_600_000, {"BLEU": 32.0, "TER": 58.0}),
    tables.Run("new", 1, 2_804_000, {"BLEU": 33.0, "TER": 55.0}),
    tables.Run("new", 2, 2_804_000, {"BLEU": 34.0, "TER": 56.0}),
    tables.Run("new", 3, 2_804_000, {"BLEU": 38.0, "TER": 51.0}),
]


def p_value(metric, name, seeds):
    """Return a p-value that tells for what it was asked."""
    assert name == "new"
    return {"BLEU": 0.01, "TER": 0.02}[metric] * len(seeds)


def test_rows_average_over_seeds_and_differ_on_shared_ones():
    base, new = tables.rows(RUNS, "base", p_value)
    bleu = base.scores["BLEU"]
    assert (bleu.mean, bleu.difference, bleu.p_value) == (31.0, None, None)
    assert bleu.spread == pytest.approx(statistics.stdev([30, 32]))
    bleu, ter = new.scores["BLEU"], new.scores["TER"]
    assert (bleu.mean, ter.mean) == (35.0, 54.0)
    assert (bleu.difference, ter.difference) == (pytest.approx(2.5), pytest.approx(-3.5))
    assert (bleu.p_value, ter.p_value) == (0.02, 0.04)


def test_without_the_baseline_nothing_is_compared():
    (only,) = tables.rows(RUNS[2:3], "base", p_value)
    bleu = only.scores["BLEU"]
    assert bleu.difference is None and bleu.p_value is None and bleu.spread is None


def test_markdown_has_a_spread_only_with_several_seeds():
    several = tables.markdown(tables.rows(RUNS, "base", p_value)).split("\n")
    assert several[0] == ("| set | parameters | BLEU | by seed | difference | p | TER | p (TER) |")
    assert several[3] == (
        "| `new` | 2.80M | 35.00 ± 2.65 | 33.00, 34.00, 38.00 | +2.50 | 0.020 "
        "| 54.00 ± 2.65 | 0.040 |"
    )
    table = tables.rows([RUNS[0], RUNS[2]], "base", p_value)
    single = tables.markdown(table, {"idioms": {"base": "50%"}}).split("\n")
    assert single[0] == "| set | parameters | BLEU | difference | p | TER | p (TER) | idioms |"
    assert single[2:] == [
        "| `base` | 2.60M | 30.00 |  |  | 60.00 |  | 50% |",
        "| `new` | 2.80M | 33.00 | +3.00 | 0.010 | 55.00 | 0.020 |  |",
    ]
    assert len({line.count("|") for line in single}) == 1


def test_rows_are_json():
    content = json.loads(json.dumps(tables.as_json(tables.rows(RUNS, "base", p_value))))
    base, new = (row["scores"]["BLEU"] for row in content)
    assert new["by_seed"] == {"1": 33.0, "2": 34.0, "3": 38.0} and new["p"] == 0.02
    assert base["difference"] is None and new["difference"] == pytest.approx(2.5)
