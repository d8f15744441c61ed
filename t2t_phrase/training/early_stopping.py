"""What the evaluations of a run add up to: the best step so far, and when to stop."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Literal

from t2t_phrase.config import UserError

FILE = "evaluations.json"
Metric = Literal["loss", "bleu"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EarlyStopping:
    """Stop once a metric has not improved for so many steps.

    Attributes:
        steps: patience; 0: never stop early.
        metric: "loss" or "bleu", on the development set.
        delta: an improvement must exceed it.
        minimize: whether less is better; None: as the metric wants it.
    """

    steps: int = 0
    metric: Metric = "loss"
    delta: float = 0.1
    minimize: bool | None = None

    def __post_init__(self) -> None:
        if self.minimize is not None and self.minimize != (self.metric == "loss"):
            better = "lower" if self.metric == "loss" else "higher"
            raise UserError(
                f"--eval_early_stopping_metric_minimize={str(self.minimize).lower()}: a {better} "
                f"{self.metric} is better; leave the flag out"
            )


@dataclasses.dataclass
class History:
    """The development scores of a run by step, kept in `evaluations.json` of its folder."""

    scores: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def add(self, step: int, scores: Mapping[str, float]) -> None:
        """Note the scores of a step."""
        self.scores[step] = dict(scores)

    def best(self, metric: Metric) -> int | None:
        """Return the step with the best score, the earliest among equals; None without scores."""
        scored = {step: s[metric] for step, s in self.scores.items() if metric in s}
        sign = 1 if metric == "loss" else -1
        return min(scored, key=lambda step: (sign * scored[step], step), default=None)

    def exhausted(self, stopping: EarlyStopping) -> bool:
        """Return whether the patience is used up."""
        if not stopping.steps:
            return False
        sign = 1 if stopping.metric == "loss" else -1
        best, best_step, last = float("inf"), 0, 0
        for last, scores in sorted(self.scores.items()):
            value = sign * scores.get(stopping.metric, float("inf"))
            if value < best - stopping.delta:
                best, best_step = value, last
        return last - best_step >= stopping.steps

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the file at once."""
        target = pathlib.Path(folder) / FILE
        temporary = target.with_name(f".{FILE}.tmp")
        temporary.write_text(json.dumps(self.scores, indent=1) + "\n")
        os.replace(temporary, target)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, until: int) -> History:
        """Read what is known up to the step `until`; later scores belong to lost updates."""
        path = pathlib.Path(folder) / FILE
        if not path.exists():
            return cls()
        stored = json.loads(path.read_text())
        return cls({int(step): s for step, s in stored.items() if int(step) <= until})
