"""`ensemble.py`, with a decoder that only writes files."""

from __future__ import annotations

import json
import pathlib
import sys

import ensemble
import pytest
from recorded_runs import save_run

from t2t_phrase.comparison import steps
from t2t_phrase.comparison.sentences import Sentences
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints

REFERENCE = [f"der alte Hund Nummer {n} läuft schnell" for n in range(20)]
WORSE = [*REFERENCE[:10], *(line.replace("alte", "neue") for line in REFERENCE[10:])]
WORST = [line.replace("läuft schnell", "sitzt da") for line in WORSE]


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Two runs of one name and a test set; the commands that ran."""
    source = tmp_path / "test.en"
    source.write_text("x\n" * len(REFERENCE))
    for folder in ("a", "b"):
        save_run(tmp_path / folder / "run", "transformer_demo")
    test = Sentences(source, [REFERENCE], None, "20 sentences")
    monkeypatch.setattr(ensemble, "sentences_of", lambda *args, **kwargs: test)
    sizes = {"a": 1_000_000, "b": 2_500_000}
    monkeypatch.setattr(checkpoints, "count_weights", lambda folder: sizes[folder.parent.name])
    commands = []

    def call(command, output):
        flags = dict(flag.removeprefix("--").partition("=")[::2] for flag in command[3:])
        commands.append(flags)
        together = "," in flags["output_dir"]
        text = REFERENCE if together else WORSE if "/b/" in flags["output_dir"] else WORST
        pathlib.Path(flags["decode_to_file"]).write_text("".join(f"{line}\n" for line in text))
        return 0

    monkeypatch.setattr(steps, "call", call)
    return commands


def make(monkeypatch, tmp_path, *arguments):
    flags = [f"--data_dir={tmp_path}", f"--work_dir={tmp_path}/out", *arguments]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    return ensemble.main()


def test_the_ensemble_is_compared_with_its_best_member(ran, monkeypatch, tmp_path):
    runs = f"{tmp_path}/a/run,{tmp_path}/b/run"
    for _ in range(2):
        assert make(monkeypatch, tmp_path, f"--output_dir={runs}") == 0
    # The ensemble is first, and nothing is done twice.
    assert [flags["output_dir"] for flags in ran] == [runs, *runs.split(",")]
    assert "ensemble_weights" not in ran[0] and ran[0]["decode_hparams"] == "beam_size=5"
    rows = json.loads((tmp_path / "out" / "ensemble.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["a/run", "b/run", ensemble.ENSEMBLE]
    assert rows[0]["bleu"] < rows[1]["bleu"] < rows[2]["bleu"] == pytest.approx(100)
    assert rows[1]["p_value"] is None and max(rows[0]["p_value"], rows[2]["p_value"]) < 0.05
    assert rows[2]["difference"] == pytest.approx(100 - rows[1]["bleu"])
    table = (tmp_path / "out" / "ensemble.md").read_text().split("\n")
    assert table[3] == f"| `b/run` | 2.50M | {rows[1]['bleu']:.2f} |  | best |"
    assert (
        table[4].startswith("| ensemble of all | 3.50M | 100.00 | +") and "case:mixed" in table[6]
    )
    assert sum(line.startswith("t2t-phrase-decoder --output_dir=") for line in table) == 3


def test_weights_are_given_to_the_ensemble_only(ran, monkeypatch, tmp_path):
    runs = f"{tmp_path}/a/run,{tmp_path}/b/run"
    make(monkeypatch, tmp_path, f"--output_dir={runs}", "--ensemble_weights=2,1")
    assert [flags.get("ensemble_weights") for flags in ran] == ["2,1", None, None]


def test_mistakes_are_told_before_anything_runs(ran, monkeypatch, tmp_path):
    with pytest.raises(UserError, match=r"--output_dir=a: give at least two runs"):
        make(monkeypatch, tmp_path, "--output_dir=a")
    with pytest.raises(UserError, match=r"give each only once"):
        make(monkeypatch, tmp_path, f"--output_dir={tmp_path}/a/run,{tmp_path}/a/run")
    with pytest.raises(UserError, match=r"none is not the --output_dir of a training run"):
        make(monkeypatch, tmp_path, f"--output_dir={tmp_path}/a/run,{tmp_path}/none")
    assert not ran
