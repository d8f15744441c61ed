"""Evaluations within a training: what they report, the best checkpoint, early stopping."""

import functools
import re
import time

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_training import make_stepper, make_trainer, steps_in, weights

from t2t_phrase.api.dev_bleu import DevBleu
from t2t_phrase.config import UserError
from t2t_phrase.io.files import WriteError
from t2t_phrase.runs import checkpoints, directory
from t2t_phrase.runs.history import History
from t2t_phrase.runs.translations import BestTranslations
from t2t_phrase.training.early_stopping import EarlyStopping


def fake_bleu(*values):
    figures = iter(values)

    def translated():
        value = next(figures)
        return DevBleu("BLEU", value, "a|signature", translations=(f"worth {value}",))

    return translated


def test_scores_in_a_folder_without_a_checkpoint_do_not_count(files, tmp_path):
    (tmp_path / "evaluations.json").write_text("{")
    make_trainer(tmp_path, files, make_stepper(), train_steps=4, evaluate=True).train()
    assert list(History.load(tmp_path, until=4).scores) == [4]
    (tmp_path / "evaluations.json").write_text("{")
    with pytest.raises(UserError, match=r"evaluations.json is damaged: .*; delete it to continue"):
        make_trainer(tmp_path, files, make_stepper(), train_steps=8, evaluate=True).train()


def test_best_by_bleu_is_kept(files, tmp_path):
    trainer = make_trainer(
        tmp_path,
        files,
        make_stepper(),
        train_steps=16,
        keep=1,
        evaluate=True,
        bleu=fake_bleu(10.0, 30.0, 20.0, 29.0),
    )
    lines = []
    trainer.log = lines.append
    trainer.train()
    assert steps_in(tmp_path) == [16] and steps_in(tmp_path / "best") == [8]
    best = BestTranslations.load(tmp_path)
    assert best == BestTranslations(8, 30.0, "a|signature", ("worth 30.0",))
    assert any("BLEU 30.00  [a|signature]" in line and "best bleu so far" in line for line in lines)


def test_best_by_loss_without_bleu(files, tmp_path):
    trainer = make_trainer(tmp_path, files, make_stepper(rate=0.05), train_steps=8, evaluate=True)
    trainer.train()
    best = History.load(tmp_path, until=8).best("loss", lower=True)
    assert steps_in(tmp_path / "best") == [best]


def test_bleu_decides_even_where_a_resumed_run_computes_none(files, tmp_path):
    """Else `best` would hold another checkpoint than the page of the run names."""
    for steps, bleu in ((8, fake_bleu(30.0, 20.0)), (16, None)):
        lines = []
        trainer = make_trainer(
            tmp_path,
            files,
            make_stepper(rate=0.05),
            train_steps=steps,
            keep=1,
            evaluate=True,
            bleu=bleu,
            log=lines.append,
        )
        trainer.train()
    history = History.load(tmp_path, until=16)
    assert history.best("loss", lower=True) > 8, "the losses would not choose another checkpoint"
    assert steps_in(tmp_path) == [16] and steps_in(tmp_path / "best") == [4]
    said = [line for line in lines if line.endswith("no BLEU, so best/ remains that of update 4")]
    assert len(said) == 2 and not any("so far" in line for line in lines)


def test_patience_outlives_a_restart(files, tmp_path):
    stopping = EarlyStopping(steps=8, metric="bleu", delta=0.5)

    def train(steps, *bleu):
        lines = []
        trainer = make_trainer(
            tmp_path,
            files,
            make_stepper(),
            train_steps=steps,
            evaluate=True,
            bleu=fake_bleu(*bleu),
            early_stopping=stopping,
            log=lines.append,
        )
        return trainer.train(), lines

    assert train(8, 20.0, 20.4)[0] == (8, "finished", 0)
    outcome, lines = train(100, 20.3)
    assert outcome == (12, "early", 0)
    assert lines[-1].startswith(
        "stopped early at step 12: dev bleu has not improved by more than 0.5 for 8 steps"
    )
    assert train(100)[0] == (12, "early", 0)


def test_an_evaluation_that_a_kill_cut_off_is_made_up_for(files, tmp_path):
    make_trainer(tmp_path, files, make_stepper(), train_steps=4).train()
    assert not History.load(tmp_path, until=4).scores
    make_trainer(tmp_path, files, make_stepper(), train_steps=8, evaluate=True).train()
    assert sorted(History.load(tmp_path, until=8).scores) == [4, 8]


@pytest.mark.slow
def test_scores_that_are_gone_are_missed(files, tmp_path):
    make_trainer(tmp_path, files, make_stepper(), train_steps=4, evaluate=True).train()
    (tmp_path / "evaluations.json").unlink()
    lines = []
    make_trainer(
        tmp_path, files, make_stepper(), train_steps=8, evaluate=True, log=lines.append
    ).train()
    assert any("evaluations.json has no scores up to step 4" in line for line in lines)
    assert sorted(History.load(tmp_path, until=8).scores) == [4, 8]


def test_evaluate_scores_the_latest_checkpoint(files, tmp_path):
    make_trainer(tmp_path, files, make_stepper(), train_steps=4).train()
    lines = []
    trainer = make_trainer(
        tmp_path, files, make_stepper(seed=9), train_steps=4, evaluate=True, log=lines.append
    )
    scores = trainer.evaluate()
    assert lines[-1].startswith("step 4: dev loss ")
    stepper = make_stepper(seed=7)
    fresh = make_trainer(tmp_path / "no", files, stepper, train_steps=4, evaluate=True)
    checkpoints.restore(stepper.model, tmp_path / "model.ckpt-4")
    assert fresh.evaluator.evaluate().means == pytest.approx(scores.means, rel=1e-6)
    with pytest.raises(UserError, match="holds no checkpoint to evaluate"):
        fresh.evaluate()


def test_weights_alone_are_evaluated_but_not_trained_on(files, tmp_path):
    stepper = make_stepper()
    expected = make_trainer(tmp_path / "no", files, stepper, train_steps=4, evaluate=True)
    checkpoints.write(
        tmp_path / "model.ckpt-3", model=checkpoints.model_variables(stepper.model), step=3
    )
    trainer = make_trainer(tmp_path, files, make_stepper(seed=9), train_steps=4, evaluate=True)
    means = expected.evaluator.evaluate().means
    assert trainer.evaluate().means == pytest.approx(means, rel=1e-6)
    with pytest.raises(UserError, match=r"cannot resume from .*model\.ckpt-3.*--warm_start_from"):
        trainer.train()


def scalars(folder):
    found = {}
    for file in folder.glob("events.*"):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                found[value.tag, event.step] = float(tf.make_ndarray(value.tensor))
    return found


def test_scalars_for_tensorboard(files, tmp_path):
    make_trainer(
        tmp_path, files, make_stepper(), train_steps=4, evaluate=True, bleu=fake_bleu(12.5)
    ).train()
    train = scalars(tmp_path)
    assert {step for _, step in train} == {2, 4}
    assert {tag for tag, _ in train} == {
        *("loss", "nll", "neg_log_perplexity", "accuracy"),
        *("learning_rate", "tokens_per_second", "steps_per_second"),
        *("grad_norm", "non_pad", "input_wait"),
    }
    assert train["learning_rate", 2] == pytest.approx(0.01)
    evaluation = scalars(tmp_path / "eval")
    assert evaluation["bleu", 4] == 12.5 and ("loss", 4) in evaluation


def test_evaluations_and_checkpoints_do_not_count_for_the_speed(files, tmp_path, monkeypatch):
    now, write = [0.0], checkpoints.write
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def takes_long(*given, **values):
        now[0] += 1000.0
        return write(*given, **values) if values else DevBleu("BLEU", 12.5, "")

    monkeypatch.setattr(checkpoints, "write", takes_long)
    make_trainer(
        tmp_path, files, make_stepper(), train_steps=6, evaluate=True, bleu=takes_long
    ).train()
    # Updates themselves take no time on this clock.
    assert now == [4000.0] and scalars(tmp_path)["steps_per_second", 6] > 1


@pytest.mark.slow
def test_an_auxiliary_loss_is_reported_by_its_name_and_trained_on(files, tmp_path):
    lines = []
    stepper = make_stepper(auxiliary=True, rate=0.05)
    trainer = make_trainer(
        tmp_path,
        files,
        stepper,
        train_steps=24,
        evaluate=True,
        early_stopping=EarlyStopping(steps=100, metric="aux"),
        log=lines.append,
    )
    trainer.train()
    scores = History.load(tmp_path, until=24).scores
    without = make_stepper(rate=0.05)
    make_trainer(tmp_path / "no", files, without, train_steps=24).train()
    without.model.auxiliary = True
    twin = make_trainer(tmp_path / "twin", files, without, train_steps=24, evaluate=True)
    assert scores[24]["aux"] < 0.9 * twin.evaluator.evaluate().means["aux"]
    progress = next(line for line in lines if line.startswith("step 4/"))
    assert re.search(
        r"  loss \d+\.\d{4}  perplexity \S+  accuracy \S+%  aux \d\.\d{4}  lr ", progress
    )
    dev = next(line for line in lines if line.startswith("step 4: dev "))
    assert f"  aux {scores[4]['aux']:.4f}  (" in dev
    assert scalars(tmp_path)["aux", 24] > 0
    assert scalars(tmp_path / "eval")["aux", 24] == pytest.approx(scores[24]["aux"], rel=1e-6)


def test_an_unknown_metric_is_an_error_before_the_first_update(files, tmp_path):
    stopping = EarlyStopping(steps=100, metric="accurcy")
    trainer = make_trainer(
        tmp_path, files, make_stepper(), train_steps=8, evaluate=True, early_stopping=stopping
    )
    with pytest.raises(UserError) as caught:
        trainer.train()
    assert str(caught.value) == (
        "--eval_early_stopping_metric=accurcy: the evaluation reports accuracy, loss, "
        "neg_log_perplexity, nll; did you mean accuracy?"
    )
    assert steps_in(tmp_path) == [] and int(trainer.stepper.optimizer.iterations) == 0


def test_the_best_is_one_that_was_saved(files, tmp_path, monkeypatch):
    write = checkpoints.write

    def full(path, **values):
        if values["step"] == 8:
            raise checkpoints.CheckpointWriteError("no space left")
        write(path, **values)

    monkeypatch.setattr(checkpoints, "write", full)
    scores = fake_bleu(10.0, 30.0, 20.0, 15.0)
    make_trainer(
        tmp_path, files, make_stepper(), train_steps=16, evaluate=True, bleu=scores
    ).train()
    assert steps_in(tmp_path) == [4, 12, 16] and steps_in(tmp_path / "best") == [12]
    assert History.load(tmp_path, until=16).of("bleu")[8] == 30.0


@pytest.fixture
def full_once(monkeypatch):
    """Return a function: the disk will be full the first time that such a file is linked."""

    def arrange(name):
        link, failed = directory._link, []

        def linked(source, target):
            if name in source.name and not failed:
                failed.append(source)
                raise OSError(28, "No space left on device")
            link(source, target)

        monkeypatch.setattr(directory, "_link", linked)
        return failed

    return arrange


def test_a_best_one_that_could_not_be_kept_is_kept_later(files, tmp_path, full_once):
    failed = full_once("ckpt-8")
    scores = fake_bleu(10.0, 30.0, 20.0)
    make_trainer(
        tmp_path, files, make_stepper(), train_steps=12, evaluate=True, bleu=scores
    ).train()
    assert failed and steps_in(tmp_path / "best") == [8]
    assert sorted(History.load(tmp_path, until=12).scores) == [4, 8, 12]


def test_scores_missing_at_the_end_fail_the_run(files, tmp_path, full_once):
    full_once("ckpt-4")
    trainer = make_trainer(tmp_path, files, make_stepper(), train_steps=4, evaluate=True)
    with pytest.raises(WriteError, match="the scores of the last evaluation could not be saved: "):
        trainer.train()
    assert steps_in(tmp_path) == [4]


def test_the_averages_of_weights_are_evaluated_and_the_weights_are_trained_on(files, tmp_path):
    def trained(name, **options):
        optimizer = functools.partial(keras.optimizers.Adam, use_ema=True, ema_momentum=0.9)
        stepper = make_stepper(rate=0.05, optimizer=optimizer)
        trainer = make_trainer(tmp_path / name, files, stepper, train_steps=8, **options)
        trainer.train()
        return trainer

    trainer = trained("evaluated", evaluate=True)
    found, without = weights(trainer.stepper), weights(trained("not").stepper)
    for name, value in found.items():
        np.testing.assert_array_equal(value, without[name])
    own = trainer.evaluator.evaluate().means["loss"]
    scores = History.load(tmp_path / "evaluated", until=8).of("loss")
    # The checkpoint holds the averages.
    assert scores[8] == pytest.approx(trainer.evaluate().means["loss"], rel=1e-6)
    assert abs(scores[8] - own) > 0.01
