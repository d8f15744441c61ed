"""Training flags that a run has recorded, so that they need not be given again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.io.files import expanded

if TYPE_CHECKING:
    from t2t_phrase.runs.commands import Command
    from t2t_phrase.runs.record import RunRecord

FLAGS = flags.FLAGS
# Flags whose values the record has.
_RECORDED = ("problem", "model", "hparams_set", "random_seed")
# Flags that take the value of the last command that gave them.
_LAST = (
    "schedule",
    "local_eval_frequency",
    "keep_checkpoint_max",
    "save_checkpoints_secs",
    "trackers",
)
# What the scores of the development set are computed from, so that they remain comparable.
_EVALUATION = ("eval_steps", "eval_run_autoregressive", "decode_hparams")
METRIC = "eval_early_stopping_metric"
# Delta and direction belong to a metric.
OF_METRIC = (f"{METRIC}_delta", f"{METRIC}_minimize")
_STOPPING = ("eval_early_stopping_steps", METRIC)


def take_flags_of_run(log: Callable[[str], None]) -> None:
    """Set flags that were not given to the settings of the run in --output_dir, if it has one.

    Settings that may change, such as the time between checkpoints, are those of the last command
    that gave them. Early stopping and options of evaluations are not taken if --schedule=train does
    not evaluate.

    Args:
        log: called with a line that lists the flags taken from the run.

    Raises:
        UserError: the record of the run is damaged, or the run has names that only another
            --t2t_usr_dir registers.
    """
    from t2t_phrase.runs import checkpoints
    from t2t_phrase.runs.commands import read_commands
    from t2t_phrase.runs.load_model import run_above
    from t2t_phrase.runs.record import RunRecord

    folder = expanded(FLAGS.output_dir or "")
    if not FLAGS.output_dir or not checkpoints.complete(folder):
        return
    record = RunRecord.load(folder)
    taken = {name: getattr(record, name) for name in _RECORDED}
    if FLAGS.hparams_set in (None, record.hparams_set) and not FLAGS["hparams_file"].present:
        taken["hparams"] = record.overrides
    try:
        commands = read_commands(folder) or read_commands(run_above(folder) or folder)
    except UserError:
        commands = []  # The trainer warns of it.
    taken["train_steps"] = record.train_steps or _last(commands, "train_steps")
    taken |= {name: _last(commands, name) for name in _LAST}
    schedule = FLAGS.schedule if FLAGS["schedule"].present else taken["schedule"]
    if schedule != "train":
        taken |= {name: _last(commands, name) for name in (*_EVALUATION, *_STOPPING)}
        named = [place for place, one in enumerate(commands) if _last([one], METRIC) is not None]
        since = commands[named[-1] :] if named else commands
        for name in OF_METRIC:
            taken[name] = None if FLAGS[METRIC].present else _last(since, name)
    said = []
    for name, value in taken.items():
        unknown = value is None or value == ""
        if not unknown and not FLAGS[name].present and FLAGS[name].value != value:
            FLAGS[name].value = value
            said.append(f"--{name}={_text(value)}")
    if said:
        log(f"settings of the run in {folder}: {' '.join(said)}")
    _check_registered(record)


def _text(value: Any) -> str:
    """Return a value as a command gives it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


def _last(commands: Sequence[Command], name: str) -> Any:
    """Return the value that the last command with this flag gave it; None: none did."""
    from t2t_phrase.runs.commands import last_value

    flag = FLAGS[name]
    text = last_value(commands, name, switch=flag.boolean)
    try:
        return flag.parser.parse(text) if text else None
    except (ValueError, TypeError):
        return None  # The file was edited, or another version wrote it.


def _check_registered(record: RunRecord) -> None:
    """Refuse names of a run that its --t2t_usr_dir registers, if that flag was not given."""
    recorded = record.t2t_usr_dir
    given = FLAGS.t2t_usr_dir
    if not recorded or (given and os.path.realpath(os.path.expanduser(given)) == recorded):
        return
    for names, name in (
        (registry.problems, record.problem.removesuffix("_rev")),
        (registry.hparams, record.hparams_set),
        (registry.models, record.model),
    ):
        if name not in names:
            raise UserError(
                f"{names.kind} {name} is unknown; the run was trained with --t2t_usr_dir="
                f"{recorded}, which registers it: give that flag"
            )
    record.resolved()
