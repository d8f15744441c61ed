"""Development scores: teacher-forced loss, and BLEU of real translations."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Protocol

from t2t_phrase.data.input.pipeline import Batch
from t2t_phrase.training.step import Stepper


class Bleu(Protocol):
    """A figure and how it was computed."""

    @property
    def value(self) -> float:
        """BLEU, 0 to 100."""

    @property
    def signature(self) -> str:
        """sacreBLEU's signature."""


@dataclasses.dataclass(frozen=True)
class DevScores:
    """What an evaluation found.

    Attributes:
        loss: mean smoothed cross-entropy of a target token, 0 for a perfect model.
        nll: mean negative log-probability of a target token, in nats.
        accuracy: share of target tokens that have the highest probability.
        tokens: target tokens scored.
        bleu: of the translations; None: nothing was translated.
    """

    loss: float
    nll: float
    accuracy: float
    tokens: int
    bleu: Bleu | None = None

    def to_dict(self) -> dict[str, float]:
        """Return the figures by name."""
        scores = {
            "loss": self.loss,
            "neg_log_perplexity": -self.nll,
            "accuracy": self.accuracy,
        }
        return scores if self.bleu is None else {**scores, "bleu": self.bleu.value}

    def __str__(self) -> str:
        perplexity = math.exp(min(self.nll, 700.0))
        text = (
            f"dev loss {self.loss:.4f}  perplexity {perplexity:.3f}  "
            f"accuracy {self.accuracy:.2%}  ({self.tokens} tokens)"
        )
        if self.bleu is not None:
            text += f"  BLEU {self.bleu.value:.2f}  [{self.bleu.signature}]"
        return text


@dataclasses.dataclass(frozen=True)
class Evaluator:
    """Scores the model that is being trained.

    Args:
        stepper: holds the model.
        batches: of the development set.
        eval_steps: at most so many batches, 0: all. Translations are of the whole set always.
        bleu: translates the development set and returns its BLEU; None: do not translate.
    """

    stepper: Stepper
    batches: Sequence[Batch]
    eval_steps: int = 0
    bleu: Callable[[], Bleu] | None = None

    def evaluate(self) -> DevScores:
        """Return the scores of the current weights."""
        sums = {"loss": 0.0, "nll": 0.0, "correct": 0.0, "tokens": 0.0}
        for batch in self.batches[: self.eval_steps or None]:
            for name, value in self.stepper.evaluate(batch.features).items():
                sums[name] += value
        tokens = max(sums["tokens"], 1.0)
        return DevScores(
            loss=sums["loss"] / tokens,
            nll=sums["nll"] / tokens,
            accuracy=sums["correct"] / tokens,
            tokens=int(sums["tokens"]),
            bleu=self.bleu() if self.bleu is not None else None,
        )
