"""What a command takes from the run that it resumes."""

import numpy as np
import pytest
from absl import flags

from t2t_phrase import registry
from t2t_phrase.bin import resumed_flags, trainer
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import add_command
from t2t_phrase.runs.record import RunRecord

STOPPING = (
    "--eval_early_stopping_steps=300",
    "--eval_early_stopping_metric=coverage",
    "--eval_early_stopping_metric_delta=0.5",
    "--noeval_early_stopping_metric_minimize",
)


@pytest.fixture
def taken(tmp_path):
    """Return a function that makes a run and returns the flags of a command that resumes it."""
    known = set(flags.FLAGS)
    trainer.define_flags()

    def take(commands, *given, **changes):
        registry.discover()
        folder = tmp_path / "run"
        recorded = dict(problem="translate_ende_grammar", hparams_set="transformer_tiny")
        settings = {**recorded, "random_seed": 7, "model": "transformer", "hparams": {}, **changes}
        folder.mkdir()
        RunRecord(**settings, overrides="", vocab_size=8, vocabulary="").save(folder)
        checkpoints.write(folder / "model.ckpt-1", model={"a": np.zeros(1)}, step=1)
        for arguments in commands:
            add_command(folder, arguments, log=print)
        flags.FLAGS(["trainer", f"--output_dir={folder}", *given])
        lines = []
        resumed_flags.take_flags_of_run(lines.append)
        return {name: flags.FLAGS[name].value for name in flags.FLAGS}, lines

    yield take
    for name in set(flags.FLAGS) - known:
        delattr(flags.FLAGS, name)


def test_settings_that_no_record_has_are_those_of_the_last_command_with_them(taken):
    first = [
        *("--schedule=train_and_evaluate", "--local_eval_frequency=50", "--train_steps=900"),
        *("--keep_checkpoint_max", "3", "--save_checkpoints_secs=60.5", *STOPPING),
    ]
    found, (line,) = taken([first, ["--local_eval_frequency=25", "--data_dir=d"]])
    assert (found["schedule"], found["local_eval_frequency"]) == ("train_and_evaluate", 25)
    assert (found["keep_checkpoint_max"], found["save_checkpoints_secs"]) == (3, 60.5)
    assert (found["train_steps"], found["eval_early_stopping_steps"]) == (900, 300)
    assert found["eval_early_stopping_metric"] == "coverage"
    assert found["eval_early_stopping_metric_delta"] == 0.5
    assert found["eval_early_stopping_metric_minimize"] is False
    assert "--local_eval_frequency=25 " in line
    assert line.endswith("--eval_early_stopping_metric_minimize=false")


def test_evaluations_of_the_best_checkpoint_are_those_of_its_run(taken, tmp_path):
    taken([["--eval_steps=7", "--noeval_run_autoregressive"]])
    best = tmp_path / "run" / "best"
    best.mkdir()
    RunRecord.load(tmp_path / "run").save(best)
    checkpoints.write(best / "model.ckpt-1", model={"a": np.zeros(1)}, step=1)
    flags.FLAGS.unparse_flags()
    flags.FLAGS(["trainer", f"--output_dir={best}", "--schedule=evaluate"])
    resumed_flags.take_flags_of_run(print)
    assert (flags.FLAGS.eval_steps, flags.FLAGS.eval_run_autoregressive) == (7, False)


def test_what_is_given_counts(taken):
    given = ["--local_eval_frequency=9", "--eval_early_stopping_metric=bleu", "--random_seed=3"]
    found, _ = taken([["--local_eval_frequency=50", *STOPPING]], *given)
    assert found["local_eval_frequency"] == 9 and found["random_seed"] == 3
    assert found["eval_early_stopping_metric"] == "bleu"
    assert found["eval_early_stopping_steps"] == 300
    # Those of the earlier metric say nothing about this one.
    assert found["eval_early_stopping_metric_delta"] == 0.1
    assert found["eval_early_stopping_metric_minimize"] is None


def test_delta_and_direction_are_those_of_the_last_metric(taken):
    found, _ = taken([STOPPING, ["--eval_early_stopping_metric=bleu"], ["--train_steps=9"]])
    assert found["eval_early_stopping_metric"] == "bleu"
    assert found["eval_early_stopping_metric_delta"] == 0.1
    assert found["eval_early_stopping_metric_minimize"] is None


def test_evaluations_and_trackers_stay_what_they_were(taken):
    first = ["--noeval_run_autoregressive", "--eval_steps=0", "--decode_hparams=beam_size=1"]
    found, (line,) = taken([[*first, "--trackers=wandb,mlflow"], []])
    assert found["eval_run_autoregressive"] is False and found["eval_steps"] == 0
    assert found["decode_hparams"] == "beam_size=1"
    assert found["trackers"] == ["wandb", "mlflow"] and "--trackers=wandb,mlflow" in line


@pytest.mark.parametrize("given", [[], ["--schedule=train"]])
def test_a_training_without_evaluations_does_not_stop_early(taken, given):
    found, _ = taken([STOPPING, [] if given else ["--schedule=train"]], *given)
    assert found["schedule"] == "train" and found["eval_early_stopping_steps"] == 0


def test_a_seed_of_zero_is_taken_and_unknown_steps_are_not(taken):
    found, (line,) = taken([], random_seed=0)
    assert found["random_seed"] == 0 and "--random_seed=0" in line
    assert found["train_steps"] == 250_000 and "train_steps" not in line


def test_values_that_no_flag_takes_are_left_out(taken):
    found, _ = taken([["--local_eval_frequency=-3", "--schedule=none", "--train_steps=x"]])
    assert found["local_eval_frequency"] == 1000 and found["train_steps"] == 250_000
    assert found["schedule"] == "continuous_train_and_eval"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"problem": "translate_mine_rev"}, "problem translate_mine is unknown"),
        ({"hparams_set": "mine"}, "hparams set mine is unknown"),
        ({"model": "mine"}, "model mine is unknown"),
    ],
)
def test_names_that_a_folder_of_the_user_registers(taken, change, named):
    with pytest.raises(UserError) as caught:
        taken([], t2t_usr_dir="/mine", **change)
    assert str(caught.value) == (
        f"{named}; the run was trained with --t2t_usr_dir=/mine, which registers it: give that flag"
    )


@pytest.mark.parametrize(
    ("name", "value"), [("optimizer", "mine"), ("learning_rate_schedule", "constant*mine")]
)
def test_hyperparameters_that_a_folder_of_the_user_registers(taken, name, value):
    with pytest.raises(UserError, match=r"mine.*with --t2t_usr_dir=/mine: give that flag$"):
        taken([], t2t_usr_dir="/mine", hparams={name: value})


def test_a_name_that_the_folder_lost_is_reported_elsewhere(taken):
    taken([], "--t2t_usr_dir=/mine", t2t_usr_dir="/mine", problem="translate_mine")
