"""The options of a training run: its model, its data, and the folder for its results."""

from __future__ import annotations

import dataclasses
import numbers
from typing import get_args

from t2t_phrase.config import UserError, convert_fields, shown
from t2t_phrase.data.problem import Problem
from t2t_phrase.runs.warm_start import OtherVocabulary
from t2t_phrase.training.trackers import check_trackers
from t2t_phrase.training_hparams import TrainingHParams

_TYPES = {
    "warm_start_from": str,
    "keep_checkpoint_max": int,
    "eval_steps": int,
    "evaluate": bool,
    "saves": bool,
    "xla": bool | None,
    "t2t_usr_dir": str,
}
# The largest seed of NumPy's generator.
_LARGEST = 2**32 - 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The model and data of a run, and the folder for its results.

    Attributes:
        problem: the problem; its data are in `data_dir`.
        data_dir: folder of the shards and the vocabulary.
        output_dir: folder of the run.
        model: registered name of the model.
        hparams_set: registered name of the set of hyperparameters.
        overrides: changes to the set, as in `--hparams`.
        hparams: the set with these changes.
        random_seed: seed of weights, data order and dropout.
        warm_start_from: run or checkpoint to take initial weights from; empty: random weights.
        warm_start_vocab: what to do if that has another vocabulary, see `warm_start`.
        keep_checkpoint_max: number of checkpoints to keep.
        eval_steps: largest number of development batches for the loss, 0: no limit.
        evaluate: whether to evaluate on the development set.
        saves: whether to write to `output_dir`.
        xla: whether to compile with XLA; None: on GPUs only.
        trackers: names of services that receive the scalars, see `training.trackers`.
        t2t_usr_dir: folder of the user's registrations, for messages.
    """

    problem: Problem
    data_dir: str
    output_dir: str
    model: str
    hparams_set: str
    overrides: str
    hparams: TrainingHParams
    random_seed: int
    warm_start_from: str = ""
    warm_start_vocab: OtherVocabulary = "same"
    keep_checkpoint_max: int = 20
    eval_steps: int = 100
    evaluate: bool = True
    saves: bool = True
    xla: bool | None = None
    trackers: tuple[str, ...] = ()
    t2t_usr_dir: str = ""

    def __post_init__(self) -> None:
        convert_fields(self, _TYPES)
        seed = self.random_seed
        if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
            raise UserError(f"--random_seed: expected int, got {shown(seed)}")
        object.__setattr__(self, "random_seed", int(seed))
        check_trackers(self.trackers)
        if self.warm_start_vocab not in (known := get_args(OtherVocabulary)):
            raise UserError(
                f"--warm_start_vocab: expected one of {', '.join(known)}, got "
                f"{shown(self.warm_start_vocab)}"
            )
        if self.warm_start_vocab != "same" and not self.warm_start_from:
            raise UserError("--warm_start_vocab requires --warm_start_from")
        for name, least in (("random_seed", 0), ("keep_checkpoint_max", 1), ("eval_steps", 0)):
            if not least <= getattr(self, name) <= _LARGEST:
                raise UserError(
                    f"--{name}={getattr(self, name)}: must be from {least} to {_LARGEST}"
                )
