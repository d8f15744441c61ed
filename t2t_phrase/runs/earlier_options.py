"""Options of the optimizer of runs that began when a list of them replaced that of the set."""

from __future__ import annotations

import os
from typing import TypeVar

from t2t_phrase.config import parse_assignments
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.training_hparams import TrainingHParams

T = TypeVar("T", bound=TrainingHParams)
_FIELD = "optimizer_options"


def with_earlier_options(hparams: T, overrides: str, folder: str | os.PathLike[str]) -> T:
    """Return hyperparameters with the options of a run that began with the same `--hparams`.

    In version 0.1.0, `optimizer_options` replaced the options of the set, to which it now adds.

    Args:
        hparams: the set with its changes.
        overrides: these changes, in T2T's syntax.
        folder: `--output_dir`, with or without a run.

    Raises:
        UserError: the record of the run is damaged.
    """
    given = parse_assignments(overrides).get(_FIELD)
    if given is None or not checkpoints.complete(folder):
        return hparams
    record = RunRecord.load(folder)
    replaced = type(hparams)(optimizer=hparams.optimizer).replace(**{_FIELD: given})
    if record.overrides != overrides or record.hparams.get(_FIELD) != replaced.to_dict()[_FIELD]:
        return hparams
    return hparams.replace(**{_FIELD: replaced.optimizer_options})
