import dataclasses
import shutil

import numpy as np
import pytest
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import load_model


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


def test_a_run_gives_its_latest_model(toy):
    loaded = load_model(toy.output_dir)
    assert (loaded.step, loaded.record.problem) == (30, "translate_toy")
    assert loaded.checkpoint == str(toy.output_dir / "model.ckpt-30")
    expected = checkpoints.model_variables(toy.model)
    found = checkpoints.model_variables(loaded.model)
    assert found.keys() == expected.keys()
    for name, variable in found.items():
        np.testing.assert_array_equal(variable, expected[name])


def test_a_model_may_compute_in_another_type_than_in_its_training(toy):
    loaded = load_model(toy.output_dir, dtype_policy="mixed_bfloat16")
    assert loaded.model.hparams.dtype_policy == loaded.model.dtype_policy.name == "mixed_bfloat16"
    assert {variable.dtype for variable in loaded.model.trainable_variables} == {"float32"}
    assert loaded.record == load_model(toy.output_dir).record


def test_best_finds_the_record_above_it(toy):
    assert load_model(toy.output_dir / "best").step == 20


def test_another_problem_is_refused(toy):
    load_model(toy.output_dir, problem="translate_toy")
    with pytest.raises(
        UserError, match=r"--problem=translate_ende: .* was trained on translate_toy"
    ):
        load_model(toy.output_dir, problem="translate_ende")


def test_a_run_that_names_no_problem_is_of_any(toy, tmp_path):
    """As runs imported from tensor2tensor are, whose vocabulary is that of the given problem."""
    shutil.copytree(toy.output_dir, tmp_path / "imported")
    record = dataclasses.replace(load_model(toy.output_dir).record, problem="")
    record.save(tmp_path / "imported")
    assert load_model(tmp_path / "imported", problem="translate_toy").step == 30


def test_a_checkpoint_alone_is_not_enough(toy, tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    for file in checkpoints.files_of(toy.output_dir / "model.ckpt-30"):
        shutil.copy(file, folder)
    with pytest.raises(UserError, match=r"no hparams.json beside checkpoint"):
        load_model(folder / "model.ckpt-30")
