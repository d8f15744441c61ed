"""The folder of a run: what it restores, keeps and drops, and what a full disk does."""

import pathlib

import numpy as np
import pytest
from no_room import no_room
from tiny_training import make_stepper

from t2t_phrase.config import UserError
from t2t_phrase.data.input.pipeline import Position
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.runs.history import History


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def make_directory(folder, stepper, keep=3, period=10, log=lambda text: None):
    return RunDirectory(
        folder, model=stepper.model, optimizer=stepper.optimizer, keep=keep, period=period, log=log
    )


def test_restores_weights_optimizer_and_position(tmp_path):
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


def test_nothing_to_restore(tmp_path):
    assert make_directory(tmp_path, make_stepper()).restore() == (0, Position())


def test_refuses_another_model(tmp_path):
    checkpoints.write(tmp_path / "model.ckpt-10", model={"b": np.ones(2)}, step=10)
    with pytest.raises(UserError, match=r"cannot resume from .*its model differs"):
        make_directory(tmp_path, make_stepper()).restore()


def test_keeps_the_last_ones(tmp_path):
    directory = make_directory(tmp_path, make_stepper(), keep=2)
    for step in (10, 20, 30):
        assert directory.save(step, Position())
    assert checkpoints.complete(tmp_path) == [
        str(tmp_path / f"model.ckpt-{step}") for step in (20, 30)
    ]


def test_irregular_ones_make_room_for_the_next(tmp_path):
    directory = make_directory(tmp_path, make_stepper(), keep=3)
    for step in (10, 13, 20, 24):
        directory.save(step, Position())
    steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
    assert steps == ["10", "20", "24"]


def test_another_period_drops_no_regular_ones(tmp_path):
    directory = make_directory(tmp_path, make_stepper(), keep=5, period=2)
    for step in (2, 4, 6):
        directory.save(step, Position())
    resumed = make_directory(tmp_path, make_stepper(), keep=5, period=10)
    for step in (7, 10):
        resumed.save(step, Position())
    steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
    assert steps == ["2", "4", "6", "10"]


def test_irregular_ones_of_an_earlier_process_make_room_too(tmp_path):
    directory = make_directory(tmp_path, make_stepper(), keep=5)
    for step in (10, 13):
        directory.save(step, Position())
    make_directory(tmp_path, make_stepper(), keep=5).save(20, Position())
    steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
    assert steps == ["10", "20"]


def test_a_future_that_was_given_up_is_dropped(tmp_path):
    directory = make_directory(tmp_path, make_stepper(), keep=3)
    for step in (10, 20, 30):
        directory.save(step, Position())
    checkpoints.set_latest(tmp_path, ["model.ckpt-10"])
    directory.save(15, Position())
    assert checkpoints.latest(tmp_path) == str(tmp_path / "model.ckpt-15")
    steps = [path.rpartition("-")[2] for path in checkpoints.complete(tmp_path)]
    assert steps == ["10", "15"]


def test_a_best_one_that_was_given_up_is_named(tmp_path):
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


def test_best_outlives_rotation(tmp_path):
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


def test_a_failed_save_is_said_and_tried_again(tmp_path):
    lines = []
    directory = make_directory(tmp_path, make_stepper(), log=lines.append)
    directory.save(10, Position())
    before = names_in(tmp_path)
    with no_room():
        assert not directory.save(20, Position())
    assert names_in(tmp_path) == before and directory.unsaved is not None
    assert "WARNING" in lines[-1] and "training continues" in lines[-1]
    assert directory.save(30, Position()) and directory.unsaved is None


def test_scores_are_not_written_without_their_best_checkpoint(tmp_path, monkeypatch):
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


def test_other_workers_write_nothing(tmp_path):
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
