"""The loop of a training: progress, checkpoints, resuming, and what stops it."""

import dataclasses
import itertools
import os
import re
import signal
import threading
import time

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_training import make_stepper, make_trainer, steps_in, weights

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.history import History
from t2t_phrase.training import loop


def test_trains_reports_saves_and_evaluates(files, tmp_path, monkeypatch):
    # No further line where the first updates take long.
    monkeypatch.setattr(loop, "_FIRST_LINE", 3600.0)
    lines = []
    stepper = make_stepper(rate=0.05)
    trainer = make_trainer(
        tmp_path, files, stepper, train_steps=10, evaluate=True, log=lines.append
    )
    assert trainer.train() == (10, "finished", 0)
    assert steps_in(tmp_path) == [4, 8, 10]
    scores = History.load(tmp_path, until=10).scores
    assert sorted(scores) == [4, 8, 10] and scores[10]["loss"] < scores[4]["loss"]
    progress = [line for line in lines if line.startswith("step ") and "tokens/s" in line]
    assert [line.split()[1] for line in progress] == ["2/10", "4/10", "6/10", "8/10", "10/10"]
    for shown in ("loss ", "lr 0.01", "grad norm ", "non-pad ", "input wait ", "left 0:00:"):
        assert shown in progress[0]
    assert any(line.startswith("step 8: dev loss ") for line in lines)
    assert lines[-1] == "finished at step 10 of 10"


def test_the_first_line_comes_early(files, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_FIRST_LINE", 0.0)
    lines = []
    make_trainer(tmp_path, files, make_stepper(), train_steps=6, log=lines.append).train()
    progress = [line.split()[1] for line in lines if "tokens/s" in line]
    assert progress == ["1/6", "2/6", "4/6", "6/6"]


def test_the_speed_of_the_last_step_is_that_of_the_others(files, tmp_path):
    """Every line is of one update, which takes as long as any other."""
    lines = []
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=12, log=lines.append)
    trainer.options = dataclasses.replace(trainer.options, log_step_count_steps=1)
    trainer.train()
    speeds = [
        float(re.search(r"([0-9]+) tokens/s", line)[1]) for line in lines if "tokens/s" in line
    ]
    assert len(speeds) == 12 and speeds[-1] < 10 * max(speeds[2:-1])


@pytest.mark.parametrize("parts", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_resumed_in_the_middle_it_ends_the_same_bit_for_bit(files, tmp_path, parts):
    whole = make_stepper(dropout=0.3, parts=parts)
    make_trainer(tmp_path / "whole", files, whole, train_steps=14, evaluate=True).train()
    # 50 sentences are some ten batches: both halves begin and end within an epoch.
    for steps in (6, 14):
        half = make_stepper(dropout=0.3, parts=parts)
        make_trainer(tmp_path / "halves", files, half, train_steps=steps, evaluate=True).train()
    for name, value in weights(half).items():
        np.testing.assert_array_equal(value, weights(whole)[name])
    for one, other in zip(whole.optimizer.variables, half.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
    paths = [tmp_path / name / "model.ckpt-14" for name in ("whole", "halves")]
    states = [checkpoints.read_state(path) for path in paths]
    assert states[0] == states[1] and states[0]["position"]["epoch"] == 1


@pytest.mark.parametrize("mean", ["tokens", "sentences"])
def test_updates_average_over_what_is_in_their_batches(files, tmp_path, mean):
    options = {"optimizer": keras.optimizers.SGD, "rate": 0.5, "gradient_mean": mean}
    stepper, twin = make_stepper(**options), make_stepper(**options)
    trainer = make_trainer(tmp_path, files, stepper, train_steps=14)
    batches = list(itertools.islice(trainer.pipeline.batches(), 14))
    # A batch at the end of an epoch is not full.
    assert any(len(batch.numbers) < batch.shape.rows for batch in batches)
    trainer.train()
    for batch in batches:
        twin.train(batch.features)
    for name, value in weights(stepper).items():
        np.testing.assert_array_equal(value, weights(twin)[name])


def test_trained_already(files, tmp_path):
    make_trainer(tmp_path, files, make_stepper(), train_steps=4).train()
    lines = []
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=4, log=lines.append)
    assert trainer.train() == (4, "finished", 0)
    assert lines[-1] == "finished at step 4 of 4"


def test_fewer_steps_than_were_trained_are_said(files, tmp_path):
    make_trainer(tmp_path, files, make_stepper(), train_steps=4).train()
    lines = []
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=3, log=lines.append)
    assert trainer.train() == (4, "finished", 0)
    assert lines[-1] == "--train_steps=3: the run is already at step 4"
    assert steps_in(tmp_path) == [4]


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ("train", r"batch 1 of epoch 0 \(\d+ x \d+ tokens; records .*"),
        ("evaluate", "the evaluation at step 4"),
        ("probe", "the largest batch, 4 x 12 tokens"),
    ],
)
def test_want_of_memory_names_the_batch(files, tmp_path, monkeypatch, part, named):
    def fail(*given):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating {{node x}}")

    stepper = make_stepper()
    monkeypatch.setattr(stepper, part, fail)
    trainer = make_trainer(
        tmp_path, files, stepper, train_steps=4, evaluate=True, try_largest_batch=part == "probe"
    )
    with pytest.raises(UserError, match=rf"^{named}: out of memory; lower batch_size") as caught:
        trainer.train()
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_save_and_leave(files, tmp_path, asked):
    lines = []

    def log(text):
        lines.append(text)
        if text.startswith("step 6/"):
            os.kill(os.getpid(), asked)

    before = signal.getsignal(asked)
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=10_000, log=log)
    outcome = trainer.train()
    assert outcome.reason == "signal" and outcome.signal == asked and 6 <= outcome.step <= 7
    assert steps_in(tmp_path) == [4, outcome.step]
    assert lines[-1] == (
        f"stopped by {asked.name} at step {outcome.step}; the same command resumes from here"
    )
    assert signal.getsignal(asked) == before and threading.active_count() < 20


def poison(stepper):
    """Make every loss from now on not a number."""
    stepper.model.softmax.bias.assign(np.full(32, np.nan))


def test_a_loss_that_is_not_finite_stops_and_saves_nothing(files, tmp_path):
    stepper = make_stepper()

    def log(text):
        if text.startswith("step 6/"):
            poison(stepper)

    trainer = make_trainer(tmp_path, files, stepper, train_steps=100, log=log)
    with pytest.raises(UserError) as caught:
        trainer.train()
    text = str(caught.value)
    assert text.startswith(
        "step 8: the loss is not finite (training objective nan"
    ) or text.startswith("step 7")
    assert " of epoch " in text and "records " in text and "clip_grad_norm" in text
    assert steps_in(tmp_path) == [4]
    assert np.isfinite(checkpoints.read_tensors(tmp_path / "model.ckpt-4")["softmax/bias"]).all()


def test_poison_just_before_a_checkpoint_is_not_saved(files, tmp_path):
    stepper = make_stepper(rate=np.inf)
    trainer = make_trainer(tmp_path, files, stepper, train_steps=100, local_eval_frequency=2)
    with pytest.raises(UserError, match="step 2: the loss is not finite"):
        trainer.train()
    assert steps_in(tmp_path) == []


def test_a_checkpoint_missing_at_the_end_fails_the_run(files, tmp_path, monkeypatch):
    lines = []
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=8, log=lines.append)

    def full(path, **values):
        if "ckpt-8" in str(path):
            raise checkpoints.CheckpointWriteError("no space left")
        return write(path, **values)

    write = checkpoints.write
    monkeypatch.setattr(checkpoints, "write", full)
    with pytest.raises(UserError, match="the last checkpoint, of step 8, could not be saved"):
        trainer.train()
    assert steps_in(tmp_path) == [4]
    assert any("WARNING: no space left" in line for line in lines)


def test_a_stop_that_could_not_be_saved_does_not_promise_to_resume(files, tmp_path, monkeypatch):
    lines = []

    def log(text):
        lines.append(text)
        if text.startswith("step 6/"):
            os.kill(os.getpid(), signal.SIGTERM)

    def full(path, **values):
        raise checkpoints.CheckpointWriteError("no space left")

    monkeypatch.setattr(checkpoints, "write", full)
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=10_000, log=log)
    with pytest.raises(UserError, match=r"of step \d, could not be saved: no space left; run the"):
        trainer.train()
    assert not any("resumes from here" in line for line in lines)


def test_further_checkpoints_by_the_clock(files, tmp_path):
    saved = []
    trainer = make_trainer(
        tmp_path, files, make_stepper(), train_steps=7, save_checkpoints_secs=1e-9, log=saved.append
    )
    trainer.train()
    assert [line.rpartition("-")[2] for line in saved if line.startswith("saved")] == list(
        "1234567"
    )
    assert steps_in(tmp_path) == [4, 7]


def test_the_clock_starts_anew_with_every_checkpoint(files, tmp_path, monkeypatch):
    now, saved = [0.0], []
    stepper = make_stepper()
    update = stepper.train

    def of_ten_seconds(*given):
        now[0] += 10.0
        return update(*given)

    monkeypatch.setattr(stepper, "train", of_ten_seconds)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    make_trainer(
        tmp_path, files, stepper, train_steps=9, save_checkpoints_secs=25, log=saved.append
    ).train()
    # The regular ones, of steps 4 and 8, count, too.
    assert [line.rpartition("-")[2] for line in saved if line.startswith("saved")] == list("34789")


@pytest.mark.slow
def test_trying_the_largest_batch_does_not_change_the_result(files, tmp_path):
    one, other, lines = make_stepper(dropout=0.3), make_stepper(dropout=0.3), []
    make_trainer(tmp_path / "a", files, one, train_steps=3).train()
    make_trainer(
        tmp_path / "b", files, other, train_steps=3, try_largest_batch=True, log=lines.append
    ).train()
    assert lines[0].startswith("the largest batch, 4 x 12 tokens, fits")
    for name, value in weights(one).items():
        np.testing.assert_array_equal(value, weights(other)[name])
