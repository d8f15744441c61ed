"""Runs that are finished, resumed or refused."""

import dataclasses
import os

import pytest
from recipes import changed_recipe

from t2t_phrase.comparison import runs, steps
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem
from t2t_phrase.runs.commands import add_command
from t2t_phrase.runs.record import RunRecord

SET = "transformer_tiny"


def test_what_is_finished_is_not_done_again(recipe):
    recipe, ran = recipe
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran == ["trainer", "avg", "decoder", "contrast"]
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran == ["trainer", "avg", "decoder", "contrast"]
    # The translation was made by other flags, the average was not.
    changed = changed_recipe(recipe, decode_hparams="beam_size=3")
    assert runs.finish(changed, SET, 7, train=True)
    assert ran[4:] == ["decoder"]
    # A newer average requires a new translation and new contrastive scores.
    os.utime(recipe.place(SET, 7, "-averaged") / "checkpoint")
    assert runs.finish(changed, SET, 7, train=True)
    assert ran[5:] == ["decoder", "contrast"]


def test_changed_sentences_are_translated_again(recipe, tmp_path):
    recipe, ran = recipe
    pairs = tmp_path / "pairs.json"
    pairs.write_text("[]")
    os.utime(pairs, (0, 0))
    recipe = changed_recipe(recipe, contrastive=str(pairs))
    for _ in range(2):
        assert runs.finish(recipe, SET, 7, train=True)
        assert ran == ["trainer", "avg", "decoder", "contrast"]
    os.utime(recipe.test.source)
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran[4:] == ["decoder"]
    os.utime(pairs)
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran[5:][-1:] == ["contrast"]


def test_changed_trees_are_read_again(recipe, tmp_path):
    recipe, ran = recipe
    pairs = tmp_path / "pairs.json"
    pairs.write_text("[]")
    recipe = changed_recipe(recipe, contrastive=str(pairs))
    files = [tmp_path / "pairs.json.trees", tmp_path / "test.en.trees"]
    for path in (pairs, *files):
        path.write_text("")
        os.utime(path, (0, 0))
    name = "phrase_representation_parse_demo"
    for _ in range(2):
        assert runs.finish(recipe, name, 7, train=True)
        assert ran == ["trainer", "avg", "decoder", "contrast"]
    for path in files:
        os.utime(path)
        ran.clear()
        assert runs.finish(recipe, name, 7, train=True)
        # The time of what is made here is in the past.
        assert {"pairs.json.trees": "contrast", "test.en.trees": "decoder"}[path.name] in ran


def test_averages_over_other_distances_are_not_compared(recipe):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    add_command(recipe.place(SET, 7), recipe.commands(SET, 7)["trainer"], log=print)
    assert runs.finish(recipe, SET, 7, train=False)
    often = changed_recipe(recipe, local_eval_frequency=15)
    with pytest.raises(UserError, match=r"every 2 updates, not every 15; give --local_eval_freq"):
        runs.finish(often, SET, 7, train=False)
    assert ran == ["trainer", "avg", "decoder", "contrast"]


def test_a_run_that_was_trained_for_longer_is_refused(recipe):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    for step in (40, 60):
        for ending in ("index", "data-00000-of-00001"):
            (recipe.place(SET, 7) / f"model.ckpt-{step}.{ending}").touch()
    ran.clear()
    with pytest.raises(UserError, match=r"-7 is at update 60, .* give --train_steps=60 or another"):
        runs.finish(recipe, SET, 7, train=True)
    (recipe.place(SET, 7) / "model.ckpt-40.index").unlink()
    with pytest.raises(UserError, match="is at update 60"):
        runs.finish(recipe, SET, 7, train=True)
    assert ran == []


def test_a_run_on_data_that_have_changed_is_refused(recipe, monkeypatch):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    record = RunRecord.load(recipe.place(SET, 7))
    dataclasses.replace(record, data="a").save(recipe.place(SET, 7))
    for digest in ("", "a"):  # unknown, the same
        monkeypatch.setattr(Problem, "data_digest", lambda *a, digest=digest: digest)
        assert runs.finish(recipe, SET, 7, train=False)
    monkeypatch.setattr(Problem, "data_digest", lambda *a: "b")
    with pytest.raises(UserError, match=r"-7 holds a run on different data.*another --output_dir"):
        runs.finish(recipe, SET, 7, train=False)
    assert ran == ["trainer", "avg", "decoder", "contrast"]


def test_a_report_says_why_a_run_is_missing(recipe, record_run, capsys):
    recipe, _ = recipe
    runs.compare(recipe, [SET], [7], train=False)
    assert f"not trained to step 40 yet: {SET}-7" in capsys.readouterr().out
    runs.compare(recipe, [SET], [7], train=True)
    other = changed_recipe(recipe, hparams="num_heads=1")
    capsys.readouterr()
    runs.compare(other, [SET], [7], train=False)
    assert f"trained with other settings: {SET}-7" in capsys.readouterr().out


def test_without_training_what_is_trained_is_still_translated(recipe, record_run):
    recipe, ran = recipe
    assert not runs.finish(recipe, SET, 7, train=False)
    assert ran == []
    flags = dict(f.removeprefix("--").split("=", 1) for f in recipe.commands(SET, 7)["trainer"])
    record_run(recipe.place(SET, 7), flags)
    (recipe.place(SET, 7) / "model.ckpt-40.index").touch()
    assert runs.finish(recipe, SET, 7, train=False)
    assert ran == ["avg", "decoder", "contrast"]


def test_a_command_that_fails_is_told_with_its_last_lines(recipe, monkeypatch):
    recipe, _ = recipe

    def call(command, output):
        output.write("error: no such thing\n")
        return 2

    monkeypatch.setattr(steps, "call", call)
    with pytest.raises(UserError, match=r"(?s)trainer failed, see .*7.log:.*no such thing"):
        runs.finish(recipe, SET, 7, train=True)
    # The code of a machine that failed is passed on.
    monkeypatch.setattr(steps, "call", lambda *a: 3)
    assert runs.compare(recipe, [SET], [7], train=True).failed == {f"{SET}-7": 3}
    monkeypatch.setattr(steps, "call", lambda *a: 143)
    with pytest.raises(SystemExit, match="143"):
        runs.finish(recipe, SET, 7, train=True)
