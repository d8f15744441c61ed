"""Training flags that a run has recorded, so that they need not be given again."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from absl import flags

FLAGS = flags.FLAGS
_NAMES = ("problem", "model", "hparams_set", "random_seed")


def take_flags_of_run(log: Callable[[str], None]) -> None:
    """Set flags that were not given to the settings of the run in --output_dir, if it has one.

    If the learning rate does not depend on --train_steps, its value is that of the last command.

    Args:
        log: called with a line that lists the flags taken from the run.

    Raises:
        UserError: the record of the run is damaged.
    """
    from t2t_phrase.config import UserError
    from t2t_phrase.runs import checkpoints
    from t2t_phrase.runs.commands import last_value, read_commands
    from t2t_phrase.runs.record import RunRecord

    folder = pathlib.Path(FLAGS.output_dir or "").expanduser()
    if not FLAGS.output_dir or not checkpoints.complete(folder):
        return
    record = RunRecord.load(folder)
    taken = {name: getattr(record, name) for name in _NAMES}
    if FLAGS.hparams_set in (None, record.hparams_set) and not FLAGS["hparams_file"].present:
        taken["hparams"] = record.overrides
    try:
        steps = last_value(read_commands(folder), "train_steps")
    except UserError:
        steps = ""  # The trainer warns of it.
    taken["train_steps"] = record.train_steps or (int(steps) if steps.isdigit() else 0)
    said = []
    for name, value in taken.items():
        if value and not FLAGS[name].present and FLAGS[name].value != value:
            FLAGS[name].value = value
            said.append(f"--{name}={value}")
    if said:
        log(f"settings of the run in {folder}: {' '.join(said)}")
