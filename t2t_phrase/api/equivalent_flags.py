"""The flags of t2t-phrase-trainer that start the same training as a call of `train`."""

from __future__ import annotations

from typing import Any

from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.run_options import RunOptions

# Flags that have the name of a field, and are left out where it has its default value.
_RUN = ("warm_start_from", "warm_start_vocab", "t2t_usr_dir")
_LOOP = ("log_step_count_steps",)
# Flags that a command takes from a run if they are not given, so their value must be recorded.
_RESUMED = ("train_steps", "local_eval_frequency", "save_checkpoints_secs")


def equivalent_flags(run: RunOptions, loop: LoopOptions) -> list[str]:
    """Return flags that start the same training.

    Args:
        run: the model and the data.
        loop: when to stop, report and evaluate.
    """
    stopping = loop.early_stopping
    given: dict[str, Any] = {
        "problem": run.problem.name,
        "hparams_set": run.hparams_set,
        "hparams": run.overrides,
        "data_dir": run.data_dir,
        "output_dir": run.output_dir,
        "random_seed": run.random_seed,
        "schedule": "continuous_train_and_eval" if run.evaluate else "train",
        "keep_checkpoint_max": run.keep_checkpoint_max,
        "eval_steps": run.eval_steps,
        **{name: getattr(loop, name) for name in _RESUMED},
        "eval_early_stopping_steps": stopping.steps,
    }
    if stopping.steps:
        given |= {
            "eval_early_stopping_metric": stopping.metric,
            "eval_early_stopping_metric_delta": stopping.delta,
            "eval_early_stopping_metric_minimize": stopping.lower,
        }
    for options, names in ((run, _RUN), (loop, _LOOP)):
        given |= {
            name: getattr(options, name)
            for name in names
            if getattr(options, name) != getattr(type(options), name)
        }
    if run.trackers:
        given["trackers"] = ",".join(run.trackers)
    if run.xla is not None:
        given["xla_compile"] = run.xla
    return [f"--{name}={_text(value)}" for name, value in given.items() if value != ""]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
