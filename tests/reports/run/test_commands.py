"""The commands that repeat a run."""

import pathlib
from types import SimpleNamespace

import numpy as np
import pytest

from t2t_phrase.reports.run.commands import repeating
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import Command


def facts_of(arguments, *, tokenize="13a", t2t_usr_dir="", folder="run"):
    return SimpleNamespace(
        problem=SimpleNamespace(base_name="mine", reversed=False, bleu_tokenize=tokenize),
        record=SimpleNamespace(t2t_usr_dir=t2t_usr_dir),
        manifest=SimpleNamespace(splits={"test": {"text": ["mine-test.en", "mine-test.de"]}}),
        best=SimpleNamespace(metric="bleu"),
        folder=pathlib.Path(folder),
        data_dir=pathlib.Path("data"),
        commands=[Command("2026-01-01 00:00:00", "0.1.0", tuple(arguments))],
    )


@pytest.mark.parametrize("others", [True, False])
def test_the_test_set_is_scored_as_the_development_set_was(others):
    if others:
        facts = facts_of(["--decode_hparams=beam_size=5"], tokenize="none", t2t_usr_dir="/own")
    else:
        facts = facts_of([])
    datagen, _, decoder, score = repeating(facts)[0]
    assert ("--t2t_usr_dir=/own" in datagen and "--t2t_usr_dir=/own" in decoder) == others
    assert ("--decode_hparams=beam_size=5" in decoder) == others
    assert ("--tokenize=none" in score) == others
    assert "--reference=data/mine-test.de" in score and "--tmp_dir=raw" in datagen


def test_a_folder_without_best_is_scored_at_its_latest_checkpoint(tmp_path):
    decoder = repeating(facts_of([], folder=tmp_path))[0][2]
    assert f"--output_dir={tmp_path}" in decoder and "--checkpoint_path" not in decoder
    (tmp_path / "best").mkdir()
    for ending in ("index", "data-00000-of-00001"):
        (tmp_path / "best" / f"model.ckpt-7.{ending}").touch()
    assert "--checkpoint_path=best" in repeating(facts_of([], folder=tmp_path))[0][2]


@pytest.mark.parametrize("averaged", [True, False])
def test_commands_do_not_make_an_average_and_say_so(tmp_path, averaged):
    state = {} if averaged else {"optimizer": {"iterations": np.zeros((), "int64")}}
    checkpoints.write(tmp_path / "model.ckpt-7", model={"w": np.zeros(1)}, step=7, **state)
    notes = repeating(facts_of([], folder=tmp_path))[1]
    assert any("an average of checkpoints" in note for note in notes) == averaged
