"""Tables beside the table of scores."""

import json

import pytest

from t2t_phrase.comparison import details
from t2t_phrase.comparison.scoring import Scoring


def test_ngrams_are_compared_seed_by_seed():
    references = [["a b c", "d e f", "g h i"]]
    worse, better = ["a b x", "d e f", "g h i"], references[0]
    texts = {
        ("base", 1): worse,
        ("base", 2): better,
        ("new", 1): better,
        ("new", 2): better,
        ("new", 3): worse,
        ("other", 3): worse,
    }
    table, found = details.ngrams(texts, references, "base", 4, Scoring())
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")]
    assert lines[0] == ["n-gram precision", "1", "2", "3", "4"]
    assert lines[2] == ["`base`", "94.44", "91.67", "83.33", "-"]
    assert lines[3] == ["`new`", "+5.56", "+8.33", "+16.67", "-"]
    # The third seed has no baseline.
    p_values = found["new"][0]["p_by_seed"]
    assert list(p_values) == [1, 2] and p_values[2] == 1.0
    assert lines[4][:2] == ["p", f"{p_values[1]:.3f}, 1.000"] and lines[4][-1] == ""
    assert lines[5] == ["`other` (not compared)", "88.89", "83.33", "66.67", "-"]
    assert len(lines) == 6
    assert found["new"][2]["precision"] == pytest.approx(100 * (3 + 3 + 2) / 9)
    assert found["new"][2]["difference"] == pytest.approx(100 / 6)
    assert found["base"][0]["difference"] is None


def test_contrastive_pairs_are_counted_once(tmp_path):
    """Sets may have different numbers of seeds, which are all evaluated on the same pairs."""
    files = {}
    for key, right in {("base", 1): 1, ("base", 2): 3, ("new", 1): 4}.items():
        files[key] = tmp_path / "-".join(map(str, key))
        counts = {"right": right, "total": 4}
        files[key].write_text(
            json.dumps({"kinds": {"agreement": counts}, "distances": {"agreement": {"1": counts}}})
        )
    table, found = details.contrastive(files)
    lines = table.split("\n")
    assert lines[0] == "| contrastive accuracy | agreement (4) |"
    assert lines[2:4] == ["| `base` | 50.00% |", "| `new` | 100.00% |"]
    assert "| agreement by distance | 1 (4) |" in lines
    assert found["base"]["agreement"] == {"right": 4, "total": 8}
