"""A call of `train` as a command."""

import types

from absl import flags

from t2t_phrase import registry
from t2t_phrase.api.equivalent_flags import equivalent_flags
from t2t_phrase.bin import trainer
from t2t_phrase.training.early_stopping import EarlyStopping
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.run_options import RunOptions


def run_options(**changes):
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]()
    return RunOptions(
        **{
            "problem": types.SimpleNamespace(name="translate_ende_grammar"),
            "data_dir": "data",
            "output_dir": "runs/one",
            "model": hparams.model,
            "hparams_set": "transformer_tiny",
            "overrides": "batch_size=512,num_heads=2",
            "hparams": hparams,
            "random_seed": 0,
            **changes,
        }
    )


def parsed(arguments):
    """Return the values of the trainer's flags."""
    known = set(flags.FLAGS)
    trainer.define_flags()
    try:
        flags.FLAGS(["trainer", *arguments])
        return {name: flags.FLAGS[name].value for name in set(flags.FLAGS) - known}
    finally:
        for name in set(flags.FLAGS) - known:
            delattr(flags.FLAGS, name)


def test_the_trainer_reads_what_was_asked_for():
    stopping = EarlyStopping(steps=90, metric="coverage", delta=0.5, minimize=False)
    loop = LoopOptions(train_steps=9, local_eval_frequency=3, early_stopping=stopping)
    run = run_options(warm_start_from="runs/other", trackers=(), xla=True, keep_checkpoint_max=2)
    found = parsed(equivalent_flags(run, loop))
    expected = {
        "problem": "translate_ende_grammar",
        "hparams": "batch_size=512,num_heads=2",
        "random_seed": 0,
        "train_steps": 9,
        "local_eval_frequency": 3,
        "keep_checkpoint_max": 2,
        "schedule": "continuous_train_and_eval",
        "eval_early_stopping_steps": 90,
        "eval_early_stopping_metric": "coverage",
        "eval_early_stopping_metric_delta": 0.5,
        "eval_early_stopping_metric_minimize": False,
        "warm_start_from": "runs/other",
        "xla_compile": True,
    }
    assert {name: found[name] for name in expected} == expected


def test_defaults_are_those_of_the_trainer():
    found = parsed(equivalent_flags(run_options(evaluate=False), LoopOptions(train_steps=250_000)))
    defaults = parsed([])
    differing = {name for name in found if found[name] != defaults[name]}
    given = {"problem", "hparams_set", "hparams", "data_dir", "output_dir", "random_seed"}
    assert differing == {*given, "schedule"} and found["schedule"] == "train"
