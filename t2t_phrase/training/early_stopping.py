"""The development scores of a run: which step is the best so far, and when to stop."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Iterable, Mapping

from t2t_phrase.config import UserError, nearest
from t2t_phrase.training.means import lower_is_better

FILE = "evaluations.json"
# A direction other than that of these names is a mistake; only a model's own names leave a choice.
_COMMON = ("loss", "nll", "neg_log_perplexity", "accuracy", "bleu")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EarlyStopping:
    """Stop when a metric has not improved for a number of steps.

    Attributes:
        steps: patience; 0: never stop early.
        metric: name of a mean that the model reports on the development set, or "bleu".
        delta: a change counts as an improvement only if it is larger.
        minimize: whether lower is better; None: as `lower_is_better` says for the metric.
    """

    steps: int = 0
    metric: str = "loss"
    delta: float = 0.1
    minimize: bool | None = None

    def __post_init__(self) -> None:
        lower = lower_is_better(self.metric)
        if self.metric in _COMMON and self.minimize is not None and self.minimize != lower:
            better = "lower" if lower else "higher"
            raise UserError(
                f"--eval_early_stopping_metric_minimize={str(self.minimize).lower()}: {better} "
                f"{self.metric} is better; leave the flag out"
            )

    @property
    def lower(self) -> bool:
        """Whether lower is better."""
        return lower_is_better(self.metric) if self.minimize is None else self.minimize

    def check(self, known: Iterable[str]) -> None:
        """Raise a UserError if there is patience with a metric that is not among the scores."""
        names = sorted(known)
        if self.steps and self.metric not in names:
            raise UserError(
                f"--eval_early_stopping_metric={self.metric}: the evaluation reports "
                f"{', '.join(names)}{nearest(self.metric, names)}"
            )


@dataclasses.dataclass
class History:
    """The development scores of a run by step, stored in `evaluations.json` in its folder."""

    scores: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def add(self, step: int, scores: Mapping[str, float]) -> None:
        """Add the scores of a step."""
        self.scores[step] = dict(scores)

    def best(self, metric: str, *, lower: bool | None = None) -> int | None:
        """Return the step with the best score, the earliest of equals; None: no step has one.

        Args:
            metric: name of a score.
            lower: whether lower is better; None: as `lower_is_better` says.
        """
        sign = 1 if (lower_is_better(metric) if lower is None else lower) else -1
        scored = self._scored(metric)
        return min(scored, key=lambda step: (sign * scored[step], step), default=None)

    def exhausted(self, stopping: EarlyStopping) -> bool:
        """Return whether the metric has not improved for `stopping.steps`.

        Evaluations without the metric do not count.
        """
        if not stopping.steps:
            return False
        sign = 1 if stopping.lower else -1
        best, best_step, last = float("inf"), 0, 0
        for last, score in sorted(self._scored(stopping.metric).items()):
            if sign * score < best - stopping.delta:
                best, best_step = sign * score, last
        return last - best_step >= stopping.steps

    def _scored(self, metric: str) -> dict[int, float]:
        return {step: scores[metric] for step, scores in self.scores.items() if metric in scores}

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the file in one step, so that it is never half written."""
        target = pathlib.Path(folder) / FILE
        temporary = target.with_name(f".{FILE}.tmp")
        temporary.write_text(json.dumps(self.scores, indent=1) + "\n")
        os.replace(temporary, target)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, until: int) -> History:
        """Read the scores up to the step `until`; later ones belong to updates that were lost."""
        path = pathlib.Path(folder) / FILE
        if not path.exists():
            return cls()
        stored = json.loads(path.read_text())
        return cls({int(step): s for step, s in stored.items() if int(step) <= until})
