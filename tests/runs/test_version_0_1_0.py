"""Runs and data that version 0.1.0 wrote are read by this one.

`version_0_1_0.tar.gz` has data of made-up sentences, a run of each family with a `hidden_size` of 8
(averages of one checkpoint, except for `interleaved`, which is the run itself), and the scores that
version 0.1.0 gave to the development set.
"""

import pathlib
import tarfile

import numpy as np
import pytest
from in_process import exit_code

import t2t_phrase
from t2t_phrase.runs.load_model import load_model

FAMILIES = ("transformer", "interleaved", "segments", "granularities", "luong")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("version_0_1_0")
    with tarfile.open(pathlib.Path(__file__).with_name("version_0_1_0.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", FAMILIES)
def test_models_give_the_same_scores(name, files):
    source, target, expected = (
        (files / "expected" / part).read_text("utf-8").splitlines()
        for part in ("source", "target", name)
    )
    model = t2t_phrase.load(files / "runs" / name)
    scores = model.score(list(zip(source, target, strict=True)))
    np.testing.assert_allclose(scores, np.array(expected, "float64"), rtol=1e-4)


@pytest.mark.parametrize("name", ["alignment", "jumps"])
def test_models_that_read_alignments_are_loaded(name, files):
    # Every variable must be in the checkpoint, with its shape.
    assert load_model(files / "runs" / name).step == 60


def test_training_goes_on_with_the_data(files, monkeypatch, capsys):
    run = files / "runs" / "interleaved"
    flags = [f"--output_dir={run}", f"--data_dir={files / 'data'}", "--train_steps=61", "--report="]
    assert exit_code("trainer", [*flags, "--schedule=train"], monkeypatch) == 0
    assert load_model(run).step == 61
