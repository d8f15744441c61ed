"""Early stopping for lack of improvement on the development set."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from t2t_phrase.config import UserError, nearest
from t2t_phrase.runs.history import History
from t2t_phrase.training.means import lower_is_better

# The direction of these metrics is fixed; only for a model's own metrics is there a choice.
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
        if self.steps < 0:
            raise UserError(
                f"--eval_early_stopping_steps={self.steps}: must not be negative; 0 never stops "
                "early"
            )
        if not 0 <= self.delta < math.inf:
            raise UserError(
                f"--eval_early_stopping_metric_delta={self.delta}: must be a non-negative number"
            )
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

    @property
    def is_common(self) -> bool:
        """Whether early stopping is off, or any model may report its metric."""
        return not self.steps or self.metric in _COMMON

    def check_evaluations(self, *, evaluate: bool, translate: bool, reason: str) -> None:
        """Check that the metric is computed during training.

        Args:
            evaluate: whether the development set is evaluated.
            translate: whether it is translated.
            reason: the reason that the model cannot translate it; empty: it can.

        Raises:
            UserError: early stopping is on, and there are no evaluations, or no BLEU.
        """
        if not self.steps:
            return
        if not evaluate:
            raise UserError(
                f"--eval_early_stopping_steps={self.steps}: --schedule=train, or evaluate=False, "
                "does not evaluate"
            )
        if self.metric == "bleu" and not translate:
            why = f"there is no BLEU, since {reason}" if reason else ""
            why = why or "--noeval_run_autoregressive computes no BLEU"
            raise UserError(f"--eval_early_stopping_metric=bleu: {why}")

    def check(self, known: Iterable[str]) -> None:
        """Raise a UserError if early stopping is on and its metric is not among the scores."""
        names = sorted(known)
        if self.steps and self.metric not in names:
            raise UserError(
                f"--eval_early_stopping_metric={self.metric}: the evaluation reports "
                f"{', '.join(names)}{nearest(self.metric, names)}"
            )

    def exhausted(self, history: History) -> bool:
        """Return whether the metric has not improved for `steps` steps.

        Evaluations without the metric do not count.
        """
        if not self.steps:
            return False
        return max(history.of(self.metric), default=0) - self.last_gain(history) >= self.steps

    def last_gain(self, history: History) -> int:
        """Return the step at which the metric last improved by more than `delta`; 0: none."""
        sign = 1 if self.lower else -1
        best, step = float("inf"), 0
        for current, score in sorted(history.of(self.metric).items()):
            if sign * score < best - self.delta:
                best, step = sign * score, current
        return step
