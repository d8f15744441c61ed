"""Loads a trained model from the folder of its run."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Any

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import AVERAGED, BEST
from t2t_phrase.runs.record import FILE, RunRecord


@dataclasses.dataclass(frozen=True)
class TrainedModel:
    """A model with its weights, and the checkpoint that they are from."""

    model: Any
    record: RunRecord
    checkpoint: str
    step: int

    @property
    def members(self) -> tuple[TrainedModel, ...]:
        """The models that it consists of: itself."""
        return (self,)


def find_record(checkpoint: str | os.PathLike[str]) -> RunRecord:
    """Return the `hparams.json` beside a checkpoint, or that of the run above `best/`.

    Raises:
        UserError: neither exists.
    """
    return RunRecord.load(_record_folder(checkpoint))


def run_above(folder: str | os.PathLike[str]) -> pathlib.Path | None:
    """Return the folder of the run that a folder such as `best/` belongs to, or None.

    Args:
        folder: folder of a checkpoint.
    """
    place = pathlib.Path(folder).resolve()
    below = place.name in (BEST, AVERAGED) and (place.parent / FILE).exists()
    return place.parent if below else None


def _record_folder(checkpoint: str | os.PathLike[str]) -> pathlib.Path:
    folder = pathlib.Path(checkpoint).parent
    for place in (folder, run_above(folder)):
        if place is not None and (place / FILE).exists():
            return place
    raise UserError(
        f"no {FILE} beside checkpoint {checkpoint}; copy the one from its training run there"
    )


def load_model(
    path: str | os.PathLike[str], *, problem: str | None = None, dtype_policy: str | None = None
) -> TrainedModel:
    """Build the model of a run and set its weights.

    User-defined models must have been registered, as `--t2t_usr_dir` does.

    Args:
        path: the `--output_dir` of a run (its latest checkpoint), or one checkpoint.
        problem: if given, must be the problem that the model was trained on, if the run names it.
        dtype_policy: dtype policy of the model; None: as in its training.

    Raises:
        UserError: the checkpoint or `hparams.json` is missing, the problem is another one, or the
            weights do not fit.
    """
    checkpoint = checkpoints.resolve(path)
    place = _record_folder(checkpoint)
    record = RunRecord.load(place)
    # An imported run may not name its problem.
    if problem and record.problem and problem != record.problem:
        raise UserError(
            f"--problem={problem}: {checkpoint} was trained on {record.problem}; give that, or "
            "another --output_dir"
        )
    try:
        hparams = record.resolved()
    except UserError as error:
        raise UserError(f"{place / FILE}: {error}") from error
    if dtype_policy is not None:
        hparams = hparams.replace(dtype_policy=dtype_policy)
    model = registry.models[record.model].from_hparams(
        hparams,
        vocab_size=record.vocab_size,
        target_vocab_size=record.target_vocab_size,
    )
    checkpoints.restore(model, checkpoint)
    return TrainedModel(model, record, checkpoint, checkpoints.read_step(checkpoint))
