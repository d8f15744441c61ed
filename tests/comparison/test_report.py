"""The report of a comparison."""

import json

import pytest

from t2t_phrase.comparison import report, runs
from t2t_phrase.comparison.scoring import Scoring
from t2t_phrase.io.files import WriteError
from t2t_phrase.runs import checkpoints

SET = "transformer_tiny"


def test_the_report_holds_recipe_commands_and_signature(recipe, capsys, monkeypatch):
    recipe, _ = recipe
    monkeypatch.setattr(checkpoints, "count_weights", lambda folder: 1_000_000)
    done = [(SET, 7), ("transformer_small", 7)]
    for run in done:
        runs.finish(recipe, *run, train=True)
    scoring = Scoring(("bleu", "chrf"), tokenize="none")
    report.report(recipe, done, [SET, "transformer_small"], [2, 5], 3, scoring)
    text = (recipe.work_dir / "table.md").read_text()
    assert text in capsys.readouterr().out
    for part in (
        "BLEU `nrefs:1|",
        "|tok:none|",
        "chrF2 `nrefs:1|",
        recipe.hparams,
        "40 updates",
        "seeds 7",
        "--output_dir=",
        "SET-SEED",
    ):
        assert part in text
    content = json.loads((recipe.work_dir / "table.json").read_text())
    assert [row["set"] for row in content["rows"]] == [SET, "transformer_small"]
    assert "| BLEU by source length | under 2 words (1) |" in text
    assert content["by_length"][SET].keys() == {"under 2 words"}
    assert "| n-gram precision | 1 | 2 | 3 |" in text and "n-gram precision: of `" in text
    assert [row["order"] for row in content["ngrams"]["transformer_small"]] == [1, 2, 3]
    assert "| contrastive accuracy | agreement (4) | polarity (1) |" in text
    assert f"| `{SET}` | 75.00% | 100.00% |" in text
    assert "| agreement by distance | 1 (4) | >15 (1) |" in text
    assert content["contrastive"][SET]["agreement >15"] == {"right": 0, "total": 1}
    assert content["recipe"]["hparams"] == recipe.hparams and content["seeds"] == [7]


def test_a_table_that_cannot_be_written_is_printed_and_the_old_one_kept(tmp_path, capsys):
    (tmp_path / "table.md").write_text("old")
    (tmp_path / "table.md.tmp").mkdir()
    with pytest.raises(WriteError, match=r"table\.md"):
        report.write_report(tmp_path, "table", "new", {})
    assert (tmp_path / "table.md").read_text() == "old"
    assert "new" in capsys.readouterr().out
