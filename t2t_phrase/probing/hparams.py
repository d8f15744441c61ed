"""The options of probing."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Literal, NamedTuple

from t2t_phrase.config import HParams


class Choice(NamedTuple):
    """The options that are chosen for each encoder and task, on the development split."""

    hidden_units: int
    learning_rate: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProbeHParams(HParams):
    """The classifier and its training; `scratch_*` are for encoders trained with it."""

    # If several are given, the best combination for the first seed is used for all seeds.
    hidden_units: tuple[int, ...] = (50, 200)  # of the classifier's only hidden layer
    learning_rates: tuple[float, ...] = (0.0003, 0.001, 0.003)
    scratch_learning_rates: tuple[float, ...] = (0.0002, 0.0005, 0.001)
    dropout: float = 0.1  # before and after the hidden layer
    batch_size: int = 64  # sentences
    scratch_warmup_steps: int = 400
    word_states: Literal["first", "mean"] = "first"  # of a word's subwords
    choice_epochs: int = 0  # after which the best combination is chosen; 0: when training ends
    max_epochs: int = 50
    patience: int = 5  # epochs without a better accuracy on the development split

    def check(self) -> Iterable[str]:
        """Yield one sentence for each field out of range."""
        for name in ("hidden_units", "learning_rates", "scratch_learning_rates"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                yield f"{name}: must be one or more different numbers, got {list(values)}"
        for units in self.hidden_units:
            if not 1 <= units <= 2**17:
                yield f"hidden_units: must be from 1 to {2**17}, got {units}"
        for name, most in (
            ("batch_size", 2**16),
            ("max_epochs", 10**6),
            ("patience", 10**6),
        ):
            if not 1 <= getattr(self, name) <= most:
                yield f"{name}: must be from 1 to {most}, got {getattr(self, name)}"
        for name in ("learning_rates", "scratch_learning_rates"):
            for rate in getattr(self, name):
                if not 0 < rate <= 100:
                    yield f"{name}: must be above 0 and at most 100, got {rate}"
        if not 0 <= self.choice_epochs <= self.max_epochs:
            yield (
                f"choice_epochs: must be from 0 to max_epochs={self.max_epochs}, "
                f"got {self.choice_epochs}"
            )
        warmup = self.scratch_warmup_steps
        if not 0 <= warmup <= 10**6:
            yield f"scratch_warmup_steps: must be from 0 to 1000000, got {warmup}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: must be in [0, 1), got {self.dropout}"

    def trial(self) -> ProbeHParams:
        """Return the options by which the choices are compared."""
        if not self.choice_epochs:
            return self
        return dataclasses.replace(self, max_epochs=self.choice_epochs)

    def choices(self, *, scratch: bool) -> list[Choice]:
        """Return the combinations among which the development split chooses.

        Args:
            scratch: whether the encoder is trained with the classifier.
        """
        rates = self.scratch_learning_rates if scratch else self.learning_rates
        return [Choice(*pair) for pair in itertools.product(self.hidden_units, rates)]
