import os
import pathlib
import resource

import numpy as np
import pytest
import tensorflow as tf
from tiny_training import TinyModel, make_stepper, weights

from t2t_phrase.config import UserError
from t2t_phrase.data.input.pipeline import Position
from t2t_phrase.io import files
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.checkpoints import CheckpointWriteError
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.runs.history import History

NAMES = ["embedding/embeddings", "softmax/kernel", "softmax/bias"]
ARRAYS = {"layer.0/kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2)}


class no_room:
    """A context in which no file can grow beyond a few bytes: as on a full disk."""

    def __enter__(self):
        self.limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, self.limits[1]))

    def __exit__(self, *exception):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.limits)


def save(folder, *steps, **values):
    for step in steps:
        checkpoints.write(folder / f"model.ckpt-{step}", model=values or ARRAYS, step=step)


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def make_directory(folder, stepper, keep=3, period=10, log=lambda text: None):
    return RunDirectory(
        folder, model=stepper.model, optimizer=stepper.optimizer, keep=keep, period=period, log=log
    )


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


class TestRunDirectory:
    def test_restores_weights_optimizer_and_position(self, tmp_path):
        source = make_stepper(seed=1)
        ids = np.full((2, 4), 5, np.int32)
        source.train({"inputs": ids, "targets": ids})
        make_directory(tmp_path, source).save(10, Position(1, 7))
        target, lines = make_stepper(seed=2), []
        directory = make_directory(tmp_path, target, log=lines.append)
        assert directory.restore() == (10, Position(1, 7))
        assert lines == [f"resuming from {tmp_path}/model.ckpt-10 (step 10)"]
        for one, other in zip(
            (*source.trainable, *source.optimizer.variables),
            (*target.trainable, *target.optimizer.variables),
            strict=True,
        ):
            np.testing.assert_array_equal(one.value, other.value)

    def test_nothing_to_restore(self, tmp_path):
        assert make_directory(tmp_path, make_stepper()).restore() == (0, Position())

    def test_refuses_another_model(self, tmp_path):
        save(tmp_path, 10)
        with pytest.raises(UserError, match=r"cannot resume from .*its model differs"):
            make_directory(tmp_path, make_stepper()).restore()

    def test_keeps_the_last_ones(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=2)
        for step in (10, 20, 30):
            assert directory.save(step, Position())
        assert checkpoints.complete(tmp_path) == [
            str(tmp_path / f"model.ckpt-{step}") for step in (20, 30)
        ]

    def test_irregular_ones_make_room_for_the_next(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=3)
        for step in (10, 13, 20, 24):
            directory.save(step, Position())
        steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
        assert steps == ["10", "20", "24"]

    def test_another_period_drops_no_regular_ones(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=5, period=2)
        for step in (2, 4, 6):
            directory.save(step, Position())
        resumed = make_directory(tmp_path, make_stepper(), keep=5, period=10)
        for step in (7, 10):
            resumed.save(step, Position())
        steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
        assert steps == ["2", "4", "6", "10"]

    def test_irregular_ones_of_an_earlier_process_make_room_too(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=5)
        for step in (10, 13):
            directory.save(step, Position())
        make_directory(tmp_path, make_stepper(), keep=5).save(20, Position())
        steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
        assert steps == ["10", "20"]

    def test_a_future_that_was_given_up_is_dropped(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=3)
        for step in (10, 20, 30):
            directory.save(step, Position())
        checkpoints.set_latest(tmp_path, ["model.ckpt-10"])
        directory.save(15, Position())
        assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-15")
        steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
        assert steps == ["10", "15"]

    def test_a_best_one_that_was_given_up_is_named(self, tmp_path):
        lines = []
        directory = make_directory(tmp_path, make_stepper(), log=lines.append)
        history = History({10: {"loss": 2.0}, 20: {"loss": 1.0}})
        for step in (10, 20):
            directory.save(step, Position())
        directory.save_scores(history, 20)
        del lines[:]
        assert directory.restore_scores(20) == history and not lines
        assert directory.restore_scores(10) == History({10: {"loss": 2.0}})
        kept = "it is kept until a new evaluation is the best so far"
        assert lines == [f"{tmp_path}/best/model.ckpt-20 is later than step 10: {kept}"]

    def test_best_outlives_rotation(self, tmp_path):
        directory = make_directory(tmp_path, make_stepper(), keep=1)
        (tmp_path / "hparams.json").write_text("{}")
        directory.save(10, Position())
        directory.keep_best(10)
        directory.save(20, Position())
        assert checkpoints.latest(tmp_path / "best") == str(tmp_path / "best" / "model.ckpt-10")
        assert checkpoints.read_step(tmp_path / "best" / "model.ckpt-10") == 10
        assert (tmp_path / "best" / "hparams.json").read_text() == "{}"
        directory.keep_best(20)
        steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path / "best")]
        assert steps == ["20"]
        # As a run does that was killed before it noted the score.
        directory.keep_best(20)
        assert not [name for name in names_in(tmp_path / "best") if "tmp" in name]

    def test_a_failed_save_is_said_and_tried_again(self, tmp_path):
        lines = []
        directory = make_directory(tmp_path, make_stepper(), log=lines.append)
        directory.save(10, Position())
        before = names_in(tmp_path)
        with no_room():
            assert not directory.save(20, Position())
        assert names_in(tmp_path) == before and directory.unsaved is not None
        assert "WARNING" in lines[-1] and "training continues" in lines[-1]
        assert directory.save(30, Position()) and directory.unsaved is None

    def test_scores_are_not_written_without_their_best_checkpoint(self, tmp_path, monkeypatch):
        lines = []
        directory = make_directory(tmp_path, make_stepper(), log=lines.append)
        directory.save(10, Position())
        history = History({10: {"loss": 1.0}})

        def full(*paths):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("t2t_phrase.runs.directory._link", full)
            directory.save_scores(history, 10)
        assert "no space left" in str(directory.unscored) and "no space left" in lines[-1]
        assert not (tmp_path / "evaluations.json").exists()
        directory.save_scores(history, 10)
        assert directory.unscored is None and History.load(tmp_path, until=10) == history
        assert checkpoints.latest(tmp_path / "best") == str(tmp_path / "best" / "model.ckpt-10")

    def test_other_workers_write_nothing(self, tmp_path):
        stepper = make_stepper()
        directory = RunDirectory(
            tmp_path,
            model=stepper.model,
            optimizer=stepper.optimizer,
            keep=1,
            period=1,
            writes=False,
        )
        assert directory.save(1, Position())
        directory.keep_best(1)
        assert names_in(tmp_path) == []
