"""The folder of a run, claimed for its first checkpoint."""

import types

import numpy as np
import pytest
from run_records import small_record

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import add_command, read_commands
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.training import run_folder

RECORD = small_record()


def test_commands_of_an_attempt_that_saved_nothing_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "keep_vocabularies", lambda *a: None)
    add_command(tmp_path, ["--schedule=train"], log=print)
    run_folder.claim_folder(tmp_path, RECORD, None)
    assert read_commands(tmp_path) == [] and RunRecord.load(tmp_path) == RECORD
    add_command(tmp_path, ["--train_steps=9"], log=print)
    checkpoints.write(tmp_path / "model.ckpt-1", model={"a": np.zeros(1)}, step=1)
    run_folder.claim_folder(tmp_path, RECORD, None)
    assert [command.arguments for command in read_commands(tmp_path)] == [("--train_steps=9",)]
    assert checkpoints.count_weights(tmp_path / "model.ckpt-1") == 1


@pytest.mark.parametrize("name", ["best", "averaged"])
def test_a_folder_that_belongs_to_a_run_is_not_trained_in(tmp_path, name):
    RECORD.save(tmp_path)
    options = types.SimpleNamespace(output_dir=str(tmp_path / name), saves=True, evaluate=True)
    with pytest.raises(UserError, match=f"belongs to the run in .*--warm_start_from=.*{name} to"):
        run_folder.check_folder(options, RECORD, print)
