import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from no_room import no_room
from tiny_training import TinyModel, make_stepper, weights

from t2t_phrase.config import UserError
from t2t_phrase.io import files
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.checkpoints import CheckpointWriteError

NAMES = ["embedding/embeddings", "softmax/kernel", "softmax/bias"]
ARRAYS = {"layer.0/kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2)}


def save(folder, *steps, **values):
    for step in steps:
        checkpoints.write(folder / f"model.ckpt-{step}", model=values or ARRAYS, step=step)


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def test_variables_are_named_by_path_without_the_model():
    stepper = make_stepper(dropout=0.5)
    assert list(checkpoints.model_variables(stepper.model)) == NAMES
    named = checkpoints.optimizer_variables(stepper.optimizer, stepper.model)
    slots = [f"{name}/{slot}" for name in NAMES for slot in ("momentum", "velocity")]
    assert list(named) == ["iteration", *slots]


def test_what_is_written_is_read(tmp_path):
    state = {"position": {"epoch": 2, "batches": 7}, "text": "ü"}
    path = tmp_path / "model.ckpt-12"
    slots = {"b/momentum": np.zeros(2)}
    checkpoints.write(path, model=ARRAYS, optimizer=slots, step=12, state=state)
    assert names_in(tmp_path) == ["model.ckpt-12.data-00000-of-00001", "model.ckpt-12.index"]
    found = checkpoints.read_tensors(path)
    assert found.keys() == ARRAYS.keys()
    for name, value in ARRAYS.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == value.dtype
    assert list(checkpoints.read_tensors(path, "optimizer")) == ["b/momentum"]
    assert checkpoints.read_step(path) == 12
    assert checkpoints.read_state(path) == state


def test_restore_sets_all_weights(tmp_path):
    source = make_stepper(seed=1)
    path = tmp_path / "model.ckpt-1"
    checkpoints.write(path, model=checkpoints.model_variables(source.model), step=1)
    target = make_stepper(seed=2)
    report = checkpoints.restore(target.model, path)
    assert list(report.matched) == NAMES and not report.missing and not report.unused
    for name, value in weights(target).items():
        np.testing.assert_array_equal(value, weights(source)[name])


def test_restore_names_what_does_not_fit(tmp_path):
    path = tmp_path / "model.ckpt-1"
    stored = {"softmax/bias": np.zeros(7, np.float32), "other": np.zeros(2, np.float32)}
    checkpoints.write(path, model=stored, step=1)
    with pytest.raises(UserError) as caught:
        checkpoints.restore(TinyModel(), path)
    text = str(caught.value)
    assert "2 missing from the checkpoint:\n  embedding/embeddings\n  softmax/kernel" in text
    assert "softmax/bias: (7,) in the checkpoint, (32,) in the model" in text
    assert "1 not used by the model:\n  other" in text


def test_latest_is_what_the_state_file_names(tmp_path):
    assert checkpoints.latest(tmp_path) is None
    save(tmp_path, 5, 10, 20)
    assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-20")
    checkpoints.set_latest(tmp_path, ["x/model.ckpt-5", "x/model.ckpt-10"])
    assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-10")
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == [
        str(tmp_path / "model.ckpt-5"),
        str(tmp_path / "model.ckpt-10"),
    ]


def test_a_checkpoint_that_is_saved_meanwhile_is_not_missing(tmp_path, monkeypatch, caplog):
    def complete(folder):
        found = listed(folder)
        save(tmp_path, 20)
        checkpoints.set_latest(tmp_path, ["model.ckpt-10", "model.ckpt-20"])
        return found

    save(tmp_path, 5, 10)
    checkpoints.set_latest(tmp_path, ["model.ckpt-5", "model.ckpt-10"])
    listed = checkpoints.complete
    monkeypatch.setattr(checkpoints, "complete", complete)
    assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-10")
    assert not caplog.records


def test_half_a_checkpoint_is_none(tmp_path):
    save(tmp_path, 5, 10)
    checkpoints.set_latest(tmp_path, ["model.ckpt-5", "model.ckpt-10"])
    (tmp_path / "model.ckpt-10.index").unlink()
    (tmp_path / "model.ckpt-15.index").write_bytes(b"")
    assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-5")


def test_a_moved_folder_keeps_its_state(tmp_path):
    (tmp_path / "old").mkdir()
    save(tmp_path / "old", 5)
    checkpoints.set_latest(tmp_path / "old", [str(tmp_path / "old" / "model.ckpt-5")])
    (tmp_path / "old").rename(tmp_path / "new")
    assert checkpoints.latest(tmp_path / "new") == str(tmp_path / "new" / "model.ckpt-5")


def test_resolve(tmp_path):
    save(tmp_path, 5)
    path = str(tmp_path / "model.ckpt-5")
    for given in (tmp_path, path, f"{path}.index", f"{path}.data-00000-of-00001"):
        assert checkpoints.resolve(given) == path
    with pytest.raises(UserError, match="holds no checkpoint"):
        checkpoints.resolve(tmp_path.parent)
    with pytest.raises(UserError, match=r"model.ckpt-6 does not exist: there is no .*-6.index"):
        checkpoints.resolve(tmp_path / "model.ckpt-6")


def test_a_full_disk_leaves_no_trace(tmp_path):
    save(tmp_path, 5)
    before = names_in(tmp_path)
    with (
        no_room(),
        pytest.raises(CheckpointWriteError, match=r"model.ckpt-10 could not be written"),
    ):
        save(tmp_path, 10, a=np.zeros(10_000, np.float32))
    assert names_in(tmp_path) == before
    assert checkpoints.read_step(tmp_path / "model.ckpt-5") == 5


def test_a_replacement_that_was_cut_off_is_no_checkpoint(tmp_path, monkeypatch):
    save(tmp_path, 5)
    replace, moved = os.replace, []

    def killed(source, target):
        if moved:
            raise KeyboardInterrupt
        moved.append(replace(source, target))

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, 5, a=np.ones(3))
    # Neither the old index beside new data nor the other way round.
    assert moved and checkpoints.complete(tmp_path) == []


def test_files_are_on_disk_before_they_have_their_names(tmp_path, monkeypatch):
    done = []

    def note(module, name):
        original = getattr(module, name)

        def called(path, *others):
            done.append((name, pathlib.Path(path).name))
            original(path, *others)

        monkeypatch.setattr(module, name, called)

    note(files, "sync")
    note(os, "replace")
    save(tmp_path, 5)
    written = ["model.ckpt-5.data-00000-of-00001", "model.ckpt-5.index"]
    assert done == [
        *(("sync", name) for name in written),
        *(("replace", name) for name in written),
        ("sync", tmp_path.name),
    ]


def test_damaged_checkpoint(tmp_path):
    (tmp_path / "model.ckpt-5.index").write_bytes(b"no index")
    with pytest.raises(UserError, match="cannot be read"):
        checkpoints.read_step(tmp_path / "model.ckpt-5")
