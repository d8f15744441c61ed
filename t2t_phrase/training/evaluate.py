"""Development scores: the model's means with teacher forcing, and BLEU of its translations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

from t2t_phrase.data.input.pipeline import Batch
from t2t_phrase.models.base import Mean
from t2t_phrase.training import means
from t2t_phrase.training.stepper import BaseStepper


class Bleu(Protocol):
    """A score and how it was computed."""

    @property
    def value(self) -> float:
        """BLEU, 0 to 100."""

    @property
    def signature(self) -> str:
        """sacreBLEU's signature."""

    @property
    def translations(self) -> tuple[str, ...]:
        """The translations that were scored."""


@dataclasses.dataclass(frozen=True)
class DevScores:
    """The result of an evaluation.

    Attributes:
        means: the means that the model reports, by name, see `means.values`.
        tokens: number of target tokens.
        bleu: BLEU of the translations; None: nothing was translated.
        signature: sacreBLEU's signature; empty where another worker translated.
        translations: translations of the development set; empty likewise.
    """

    means: dict[str, float]
    tokens: int
    bleu: float | None = None
    signature: str = ""
    translations: tuple[str, ...] = dataclasses.field(default=(), repr=False)

    def to_dict(self) -> dict[str, float]:
        """Return the scores by name."""
        return self.means if self.bleu is None else {**self.means, "bleu": self.bleu}

    def __str__(self) -> str:
        text = f"dev {means.describe(self.means)}  ({self.tokens} tokens)"
        if self.bleu is not None:
            text += f"  BLEU {self.bleu:.2f}  [{self.signature}]"
        return text


@dataclasses.dataclass(frozen=True)
class Evaluator:
    """Scores the model that is being trained.

    Args:
        stepper: holds the model.
        batches: the development set.
        eval_steps: largest number of batches to compute the means on, 0: no limit. The translations
            are always of the whole set.
        bleu: translates the development set and returns its BLEU; None: do not translate. With
            several workers only the chief translates; the others receive its score.
    """

    stepper: BaseStepper
    batches: Sequence[Batch]
    eval_steps: int = 0
    bleu: Callable[[], Bleu] | None = None

    def names(self) -> list[str]:
        """Return the names of the scores, which one batch shows."""
        reported: dict[str, Mean] = {}
        for batch in self.batches[:1]:
            reported = self.stepper.evaluate(batch.features)
        return [*means.values(reported), *(["bleu"] if self.bleu is not None else [])]

    def evaluate(self) -> DevScores:
        """Return the scores of the current weights, the same on all workers."""
        sums: dict[str, Mean] = {}
        tokens = 0
        for batch in self.batches[: self.eval_steps or None]:
            sums = means.add(sums, self.stepper.evaluate(batch.features))
            tokens += batch.target_tokens
        own = self.bleu() if self.bleu is not None else None
        translated, value = self.stepper.agreement.of_chief(
            [own is not None, 0.0 if own is None else own.value]
        )
        return DevScores(
            means=means.values(sums),
            tokens=tokens,
            bleu=value if translated else None,
            signature="" if own is None else own.signature,
            translations=() if own is None else own.translations,
        )
