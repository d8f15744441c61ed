"""When a training stops, reports, saves and evaluates."""

from __future__ import annotations

import dataclasses
import math

from t2t_phrase.config import UserError, convert_fields, shown
from t2t_phrase.training.early_stopping import EarlyStopping

_TYPES = {
    "train_steps": int,
    "local_eval_frequency": int,
    "log_step_count_steps": int,
    "try_largest_batch": bool,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """When to stop, report, save and evaluate.

    Attributes:
        train_steps: step at which training ends, counted from the start of the run.
        local_eval_frequency: steps between checkpoints; each is evaluated.
        log_step_count_steps: steps between progress lines.
        try_largest_batch: whether to compute the gradient of the largest batch before training, so
            that a run that does not fit in memory fails at once.
        save_checkpoints_secs: seconds between additional checkpoints; 0: none.
        early_stopping: when to stop before `train_steps`.

    Example:
        ```python
        from t2t_phrase.training.early_stopping import EarlyStopping

        stopping = EarlyStopping(steps=3000, metric="bleu", delta=0.1)
        loop = t2t_phrase.LoopOptions(
            train_steps=30_000, local_eval_frequency=300, early_stopping=stopping
        )
        ```
    """

    train_steps: int
    local_eval_frequency: int = 1000
    log_step_count_steps: int = 100
    try_largest_batch: bool = False
    save_checkpoints_secs: float = 0
    early_stopping: EarlyStopping = EarlyStopping()  # noqa: RUF009

    def __post_init__(self) -> None:
        convert_fields(self, _TYPES)
        if not isinstance(self.early_stopping, EarlyStopping):
            raise UserError(
                f"early_stopping: expected EarlyStopping(steps=...), got "
                f"{shown(self.early_stopping)}"
            )
        for name in ("train_steps", "local_eval_frequency", "log_step_count_steps"):
            if getattr(self, name) < 1:
                raise UserError(f"--{name}={getattr(self, name)}: must be at least 1")
        if not 0 <= self.save_checkpoints_secs < math.inf:
            raise UserError(
                f"--save_checkpoints_secs={self.save_checkpoints_secs}: must be a non-negative "
                "number"
            )
