"""Warm start: initial weights from another run."""

from __future__ import annotations

import dataclasses
import os

import keras

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.checkpoints import RestoreReport


@dataclasses.dataclass(frozen=True)
class WarmStart:
    """Which weights were copied, and from which checkpoint."""

    checkpoint: str
    report: RestoreReport

    def __str__(self) -> str:
        return f"warm start from {self.checkpoint}: {self.report}"


def warm_start(model: keras.Model, path: str | os.PathLike[str]) -> WarmStart:
    """Copy every weight that the checkpoint has under the same name and in the same shape.

    Other weights keep their random initial values, and the optimizer starts from scratch.

    Args:
        model: the model to initialise.
        path: a run's folder (its latest checkpoint) or a checkpoint.

    Raises:
        UserError: there is no checkpoint, or no weight of it fits.
    """
    checkpoint = checkpoints.resolve(path)
    report = checkpoints.assign(checkpoint, checkpoints.model_variables(model))
    if not report.matched:
        raise UserError(f"--warm_start_from={path}: no weight of it fits the model: {report}")
    return WarmStart(checkpoint, report)
