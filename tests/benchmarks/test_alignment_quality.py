"""`benchmarks/alignment_quality.py` with commands that are only written down."""

import dataclasses
import json
import sys

import alignment_quality
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints

LEXICAL = alignment_quality.Spec("alignment_assisted_demo", "alignment_model_demo", "luong_demo")


@pytest.fixture
def experiment(short_recipe, monkeypatch):
    started = dataclasses.replace(short_recipe, train_steps=20, hparams="batch_size=64")
    monkeypatch.setattr(checkpoints, "count_weights", lambda folder: 1_000_000)
    return alignment_quality.Experiment(short_recipe, started, "alignment_weight=0.5")


def test_a_lexical_model_starts_from_the_average_and_is_searched_with_the_alignment_model(
    experiment, fake_commands, tmp_path
):
    ran = fake_commands
    made = experiment.finish(LEXICAL, 7)
    trained = [flags for module, flags in ran if flags.get("schedule") == "train"]
    assert [flags["hparams_set"] for flags in trained] == [
        "luong_demo",
        "alignment_model_demo",
        "alignment_assisted_demo",
    ]
    assert [flags["train_steps"] for flags in trained] == ["40", "40", "20"]
    assert trained[2]["warm_start_from"] == str(tmp_path / "luong_demo-7-averaged")
    assert trained[2]["hparams"] == "batch_size=64"
    assert not any("warm_start_from" in flags for flags in trained[:2])
    decoded = [flags for module, flags in ran if module == "decoder"]
    assert len(decoded) == 1 and decoded[0]["decode_to_file"] == str(made)
    folder = tmp_path / "from_luong_demo" / "alignment_assisted_demo-7-averaged"
    assert decoded[0]["output_dir"] == str(folder)
    alignment = str(tmp_path / "alignment_model_demo-7-averaged")
    assert decoded[0]["alignment_model_dir"] == alignment
    assert decoded[0]["decode_hparams"] == "beam_size=2,alignment_weight=0.5"
    evaluated = [flags["output_dir"] for _, flags in ran if flags.get("schedule") == "evaluate"]
    assert evaluated == [str(folder), alignment]
    ran.clear()
    experiment.finish(LEXICAL, 7)
    assert ran == []


def test_the_table_has_what_was_measured(experiment, fake_commands, tmp_path, capsys):
    plain = alignment_quality.Spec("luong_demo")
    baseline = experiment.finish(plain, 7)
    made = experiment.finish(LEXICAL, 7)
    rows = [experiment.row(plain, 7, baseline, baseline)[0]]
    row, signatures = experiment.row(LEXICAL, 7, made, baseline)
    alignment_quality.report(experiment, [*rows, row], signatures)
    text = (tmp_path / "table2.md").read_text()
    assert text in capsys.readouterr().out and "case:lc" in text
    assert "| `luong_demo` | 7 | 1.00M | 100.00 | 0.00 |  | 4.500 |  |  |" in text
    name = "alignment_assisted_demo + alignment_model_demo from luong_demo"
    # There is no p-value of one sentence.
    assert f"| `{name}` | 7 | 2.00M | 100.00 | 0.00 |  | 4.500 | 4.500 | 1.31 |" in text
    content = json.loads((tmp_path / "table2.json").read_text())
    assert [entry["bleu"] for entry in content["rows"]] == [pytest.approx(100)] * 2


def test_systems_are_read(tmp_path, monkeypatch):
    spec = alignment_quality.Spec
    assert spec.parse("a") == spec("a") and spec.parse("a::b") == spec("a", "", "b")
    assert str(spec.parse("a:b:c")) == "a + b from c"
    for text in (":b", "a:b:c:d"):
        with pytest.raises(UserError, match="is not SET:ALIGNMENT_SET:START_SET"):
            spec.parse(text)


def test_too_many_checkpoints_are_told_before_hours_of_training(
    fake_commands, monkeypatch, tmp_path
):
    flags = ["--problem=translate_ende_grammar", f"--data_dir={tmp_path}", f"--work_dir={tmp_path}"]
    flags += ["--systems=luong_demo", "--train_steps=40", "--num_last_checkpoints=25"]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    with pytest.raises(UserError, match="the last 20 are kept; give at most 20"):
        alignment_quality.main()
    assert not fake_commands
