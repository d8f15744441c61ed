"""The parts of `alignment_search.py` and `dictionary_experiment.py` that need no model."""

import argparse
import dataclasses
import json
import os
import pathlib
import sys

import alignment_search
import alignment_steps
import dictionary_experiment
import forced_links
import pytest

from t2t_phrase.comparison import steps
from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.hypothesis import Hypothesis


class Search:
    """Stands for a translator; time passes as it says."""

    def __init__(self, clock, seconds, text):
        self.clock, self.seconds, self.text = clock, seconds, text

    def encode(self, lines):
        ids = [[3] * (len(line.split()) + 1) for line in lines]
        return argparse.Namespace(ids=ids)

    def batches(self, encoded):
        for batch in make_batches([len(ids) for ids in encoded.ids], 8):
            self.clock[0] += self.seconds
            found = Hypothesis(self.text, 0.0, tokens=4, positions=6)
            yield batch, [[found] for _ in batch.lines]


def test_thresholds_are_timed_in_turn_and_compared_with_the_first(monkeypatch, tmp_path, capsys):
    clock = [0.0]
    monkeypatch.setattr(alignment_search.time, "perf_counter", lambda: clock[0])
    searches = [Search(clock, 3.0, "ein Satz ist da"), Search(clock, 1.0, "EIN Satz ist da")]
    sources = ["a b c"] * 5
    points, signature = alignment_search.measure(
        searches, [0.0, 0.5], sources, ["ein Satz ist da"] * 5, 2
    )
    assert [point.positions for point in points] == [1.5, 1.5]
    assert points[0].seconds == pytest.approx(3 * points[1].seconds)
    assert [point.bleu for point in points] == [pytest.approx(100)] * 2
    flags = ["--problem=p", "--data_dir=d", f"--work_dir={tmp_path}", "--output_dir=l"]
    args = alignment_search.parse([*flags, "--alignment_model_dir=a"])
    alignment_search.report(args, points, 0.5, {0.5: 20.0, 1.0: 19.0}, signature, 5)
    text = (tmp_path / "figure3.md").read_text()
    assert text in capsys.readouterr().out and "case:lc" in text
    assert "| 0.5 | 100.00 | +0.00 | 3.00 | 1.50 |" in text
    assert "| BLEU of the development set | 20.00 | 19.00 |" in text
    content = json.loads((tmp_path / "figure3.json").read_text())
    assert content["points"][1]["speed_up"] == pytest.approx(3)
    assert (tmp_path / "figure3.png").read_bytes().startswith(b"\x89PNG")


def test_the_first_threshold_must_prune_nothing(monkeypatch):
    flags = ["--problem=p", "--data_dir=d", "--work_dir=w", "--output_dir=l"]
    monkeypatch.setattr(sys, "argv", ["x", *flags, "--alignment_model_dir=a", "--thresholds=0.1,0"])
    with pytest.raises(UserError, match=r"--thresholds=0\.1,0: the first must be 0"):
        alignment_search.main()


def test_the_weight_with_the_best_translation_is_chosen(monkeypatch, tmp_path):
    source, target = tmp_path / "dev.en", tmp_path / "dev.de"
    source.write_text("a\nb\nc\n")
    target.write_text("ein Satz ist da\nnoch ein Satz ist da\nx\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "checkpoint").touch()
    ran = []

    def call(command, output):
        flags = dict(flag.removeprefix("--").partition("=")[::2] for flag in command[3:])
        ran.append(flags)
        good = "alignment_weight=0.5" in flags["decode_hparams"]
        text = target.read_text().splitlines()[:2] if good else ["ein Satz ist", "gar nicht da"]
        pathlib.Path(flags["decode_to_file"]).write_text("\n".join([*text, ""]))
        return 0

    monkeypatch.setattr(steps, "call", call)
    args = argparse.Namespace(
        weights="0.25,0.5,1",
        weight_threshold=0.15,
        dev_sentences=2,
        decode_hparams="beam_size=2",
        data_dir=str(tmp_path),
    )
    system = alignment_steps.System(run, run)
    text = alignment_steps.Text(source, target, tmp_path / "none")
    for _ in range(2):
        weight, found = alignment_search.choose_weight(system, text, args, tmp_path)
        assert weight == 0.5 and found[0.5] > 99 > found[1.0]
    assert [flags["alignment_model_dir"] for flags in ran] == [str(run)] * 3
    assert pathlib.Path(ran[0]["decode_from_file"]).read_text() == "a\nb\n"


@pytest.fixture
def dictionaries(tmp_path, monkeypatch):
    """The experiment on three sentences, and the commands that ran."""
    source, target = tmp_path / "p-dev.en", tmp_path / "p-dev.de"
    source.write_text("a b\nc\nd e f g\n")
    target.write_text("A B\nC\nD E F G\n")
    gold = tmp_path / "p-dev.target.align"
    gold.write_text("0-0 1-1\n0-0\n0-0\n")
    for name in ("plain", "jumps"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "checkpoint").touch()
    ran = []

    def call(command, output):
        module = command[2].rpartition(".")[2]
        flags = dict(flag.removeprefix("--").partition("=")[::2] for flag in command[3:])
        ran.append((module, flags))
        made = pathlib.Path(flags.get("decode_to_file") or flags["output_file"])
        guided = "sentence_dictionary" in flags
        made.write_text("A B\nC\nD E F G\n" if guided else "A b\nx\nD E F x\n")
        if guided:
            output.write(
                "4 dictionary entries: 3 occurrences in the sources, 2 of them applied in the "
                "translations\n"
            )
        if "score_file" in flags:
            pathlib.Path(f"{made}.align").write_text("0-0\n0-0\n0-0\n")
        return 0

    monkeypatch.setattr(steps, "call", call)
    monkeypatch.setattr(forced_links, "features", lambda system, text: [])
    text = alignment_steps.Text(source, target, gold)
    made = dictionary_experiment.Experiment(text, tmp_path, tmp_path, "beam_size=2", "x=1")
    return dataclasses.replace(made, gold=str(gold)), ran


def test_a_system_is_translated_twice_and_its_links_are_scored(dictionaries, tmp_path, capsys):
    experiment, ran = dictionaries
    row = experiment.finish(alignment_steps.System(tmp_path / "plain"))
    assert [module for module, _ in ran] == ["decoder", "dictionary", "decoder", "decoder"]
    assert ran[1][1]["translation"] == ran[0][1]["decode_to_file"]
    assert ran[2][1]["sentence_dictionary"] == ran[1][1]["output_file"]
    assert (tmp_path / "pairs.tsv").read_text() == "a b\tA B\nc\tC\nd e f g\tD E F G\n"
    assert (row.entries, row.matched, row.applied) == (4, 3, 2)
    assert row.guided_bleu > 99 > row.bleu and row.guided_ter == 0 < row.ter
    assert row.error_rate == pytest.approx(100 * (1 - 6 / 7))
    args = argparse.Namespace(problem="p", split="dev")
    dictionary_experiment.report(args, experiment, [row])
    text = (tmp_path / "table3.md").read_text()
    assert "| 4 | 3 | 2 (67%) | 14.29 |" in text and "case:lc" in text
    assert json.loads((tmp_path / "table3.json").read_text())["rows"][0]["applied"] == 2
    assert text in capsys.readouterr().out


@pytest.mark.parametrize("changed", ["source", "alignments"])
def test_steps_are_repeated_for_another_text(dictionaries, tmp_path, changed):
    experiment, ran = dictionaries
    experiment = dataclasses.replace(experiment, gold="")
    system = alignment_steps.System(tmp_path / "plain")
    experiment.finish(system)
    for path in tmp_path.rglob("*"):
        os.utime(path, (0, 0))
    os.utime(getattr(experiment.text, changed), (1, 1))
    del ran[:]
    experiment.finish(system)
    modules = ["decoder", "dictionary", "decoder"]
    assert [module for module, _ in ran] == modules[changed == "alignments" :]


def test_all_entries_are_required_if_asked_for(dictionaries, tmp_path):
    experiment, ran = dictionaries
    experiment = dataclasses.replace(experiment, gold="", require=True)
    row = experiment.finish(alignment_steps.System(tmp_path / "plain"))
    assert [module for module, _ in ran] == ["decoder", "dictionary", "decoder", "decoder"]
    assert ran[3][1]["dictionary_mode"] == "require" and "dictionary_mode" not in ran[2][1]
    assert row.required and row.required.bleu > 99 and row.required.applied == 2
    titles, _, line = dictionary_experiment.markdown([row]).split("\n")
    assert titles.endswith("| BLEU, all required | p | TER | applied |")
    assert line.endswith("| 0.00 | 2 (67%) |")


def test_with_an_alignment_model_everything_is_searched_with_it(dictionaries, tmp_path):
    experiment, ran = dictionaries
    system = alignment_steps.System(tmp_path / "plain", tmp_path / "jumps")
    assert experiment.finish(system).error_rate == pytest.approx(100 * (1 - 6 / 7))
    assert [module for module, _ in ran] == ["decoder", "dictionary", "decoder", "decoder"]
    assert {flags["alignment_model_dir"] for module, flags in ran if module == "decoder"} == {
        str(tmp_path / "jumps")
    }
    assert ran[0][1]["decode_hparams"] == "beam_size=2,x=1"
    assert ran[3][1]["decode_hparams"] == "beam_size=2,x=1,write_alignments=true"
    assert dataclasses.replace(experiment, gold="").finish(system).error_rate is None


def test_systems_name_folders_of_runs(tmp_path):
    for text in ("", "a+", "a+b+c", "a:", "a:b+c"):
        with pytest.raises(UserError, match=r"a system is RUN, RUN\+ALIGNMENT_RUN or RUN:RUN:"):
            alignment_steps.System.parse(text)
    with pytest.raises(UserError, match=r"hparams.json does not exist"):
        alignment_steps.System.parse(str(tmp_path))
