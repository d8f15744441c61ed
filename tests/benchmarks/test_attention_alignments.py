"""`attention_alignments.py` and `trained_runs.py`, with a decoder that only writes files."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys

import alignment_steps
import attention_alignments
import pytest
import trained_runs
from recorded_runs import GRAMMAR, save_run

from t2t_phrase.comparison import steps
from t2t_phrase.config import UserError


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Two lines of data, two runs of one name, one of them of an LSTM; the commands that ran."""
    source, target = (tmp_path / f"{GRAMMAR}-dev.{language}" for language in ("en", "de"))
    source.write_text("a b\nc\n")
    target.write_text("A B\nC\n")
    (tmp_path / f"{GRAMMAR}-dev.target.align").write_text("0-0 1-1\n0-0\n")
    save_run(tmp_path / "run", "transformer_demo")
    save_run(tmp_path / "other" / "run", "luong_local_p_general_feed_demo")
    texts = (["a b", "c"], ["A B", "C"])
    monkeypatch.setattr("t2t_phrase.data.problem.Problem.raw_text", lambda self, *args: texts)
    commands = []

    def call(command, output):
        flags = dict(flag.removeprefix("--").partition("=")[::2] for flag in command[3:])
        commands.append(flags)
        if "other" not in flags["output_dir"] or "," in flags["output_dir"]:
            links = "0-0\n0-0\n" if "," in flags["output_dir"] else "0-0 1-0\n\n"
            pathlib.Path(flags["decode_to_file"]).touch()
            pathlib.Path(f"{flags['decode_to_file']}.align").write_text(links)
            return 0
        output.write("error: this one has no attention")
        return 1

    monkeypatch.setattr(steps, "call", call)
    return commands


def make(monkeypatch, tmp_path, *arguments):
    flags = [f"--data_dir={tmp_path}", f"--work_dir={tmp_path}/out", *arguments]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    return attention_alignments.main()


def test_every_system_is_forced_and_its_links_are_scored(ran, monkeypatch, tmp_path, capsys):
    one, two = tmp_path / "run", tmp_path / "other" / "run"
    (tmp_path / "aligned").write_text("0-0 1-1\n0-0\n")
    given = [f"--systems={one},{two},{one}:{two}", f"--alignments={tmp_path}/aligned"]
    for _ in range(2):
        # The second one fails, the others are reported.
        assert make(monkeypatch, tmp_path, *given) == 1
    table = (tmp_path / "out" / "table6.md").read_text()
    name = tmp_path.name
    assert table.split("\n")[2:5] == [
        f"| `{name}/run` | transformer | 60.00 | 50.00 | 33.33 | 0.00 | 50.00 | 2 |",
        f"| `{name}/run:other/run` | transformer; luong, local_p (general) "
        "| 20.00 | 100.00 | 66.67 | 0.00 | 0.00 | 2 |",
        "| `aligned` |  | 0.00 | 100.00 | 100.00 | 0.00 | 0.00 | 3 |",
    ]
    assert len(re.findall("^t2t-phrase-decoder --output_dir=.*", table, re.MULTILINE)) == 2
    rows = json.loads((tmp_path / "out" / "table6.json").read_text())["rows"]
    assert rows[1]["error_rate"] == pytest.approx(0.2) and rows[1]["sure"] == 3
    # What is finished is not repeated.
    assert [flags["output_dir"] for flags in ran] == [
        str(one), str(two), f"{one},{two}", str(two)
    ]  # fmt: skip
    assert {flags["decode_hparams"] for flags in ran} == {"write_alignments=true"}
    assert "this one has no attention" in capsys.readouterr().err


def test_a_changed_text_is_scored_anew(ran, monkeypatch, tmp_path):
    given = f"--systems={tmp_path}/run"
    assert not make(monkeypatch, tmp_path, given)
    for path in (tmp_path / "run" / "checkpoint", *(tmp_path / "out").glob("*.scores")):
        os.utime(path, (0, 0))
    (tmp_path / f"{GRAMMAR}-dev.de").write_text("A B\nD\n")
    assert not make(monkeypatch, tmp_path, given)
    assert len(ran) == 2
    assert pathlib.Path(ran[1]["score_file"]).read_text() == "a b\tA B\nc\tD\n"


def test_links_of_a_search_take_its_options(ran, monkeypatch, tmp_path):
    given = f"--systems={tmp_path}/run+{tmp_path}/run2"
    save_run(tmp_path / "run2", "alignment_model_demo")
    assert not make(monkeypatch, tmp_path, given, "--decode_hparams=batch_size=64")
    assert ran[0]["alignment_model_dir"] == f"{tmp_path}/run2"
    assert ran[0]["decode_hparams"] == "batch_size=64,beam_size=5,write_alignments=true"


def test_mistakes_are_told_before_anything_runs(ran, monkeypatch, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(UserError, match=r"--systems: run is given twice; give it once"):
        make(monkeypatch, tmp_path, f"--systems={run},{run}")
    with pytest.raises(UserError, match=r"none does not exist; give --gold_alignments for "):
        make(monkeypatch, tmp_path, f"--systems={run}", f"--gold_alignments={tmp_path}/none")
    save_run(tmp_path / "far", "transformer_demo", "translate_ende_multi30k")
    with pytest.raises(UserError, match=r"need the same problem; these have translate_ende_gram"):
        make(monkeypatch, tmp_path, f"--systems={run},{tmp_path}/far")
    assert not ran


def test_a_run_without_checkpoints_is_told(ran, monkeypatch, tmp_path, capsys):
    (tmp_path / "run" / "checkpoint").unlink()
    assert make(monkeypatch, tmp_path, f"--systems={tmp_path}/run") == 1
    assert f"error: {tmp_path}/run has no checkpoint yet" in capsys.readouterr().err


def test_a_system_may_be_an_ensemble(tmp_path):
    for name in ("a", "b", "c"):
        save_run(tmp_path / name, "transformer_demo")
    system = alignment_steps.System.parse(":".join(f"{tmp_path}/{name}" for name in "abc"))
    assert system.name == "a:b:c" and system.inputs == [tmp_path / name for name in "abc"]
    assert system.flags == [f"--output_dir={tmp_path}/a,{tmp_path}/b,{tmp_path}/c"]


def test_names_are_as_short_as_they_can_be():
    paths = [pathlib.Path(path) for path in ("/x/a/run", "/y/a/run", "/z/other", "/z/b/run")]
    names = trained_runs.distinct_names(paths)
    assert names == ["x/a/run", "y/a/run", "other", "b/run"]
    assert trained_runs.file_stem(names[0]) == "x-a-run"
    # The whole path, where another one ends in it.
    nested = [pathlib.Path("/run"), pathlib.Path("/x/run")]
    assert trained_runs.distinct_names(nested) == ["//run", "x/run"]
    with pytest.raises(UserError, match=r"give each only once"):
        trained_runs.distinct_names([paths[0], pathlib.Path("/x/b/../a/run")])
