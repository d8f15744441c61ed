"""The options of probing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from t2t_phrase.config import HParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProbeHParams(HParams):
    """The classifier and its training; `scratch_*` are for encoders trained with it."""

    hidden_units: int = 200  # of the classifier's only hidden layer
    dropout: float = 0.1  # before and after that layer
    batch_size: int = 64  # sentences
    learning_rate: float = 0.001
    scratch_learning_rate: float = 0.0005
    scratch_warmup_steps: int = 400
    max_epochs: int = 50
    patience: int = 5  # epochs without a better accuracy on the development split

    def check(self) -> Iterable[str]:
        """Yield one sentence for each field out of range."""
        for name, most in (
            ("hidden_units", 2**17),
            ("batch_size", 2**16),
            ("max_epochs", 10**6),
            ("patience", 10**6),
        ):
            if not 1 <= getattr(self, name) <= most:
                yield f"{name}: must be from 1 to {most}, got {getattr(self, name)}"
        for name in ("learning_rate", "scratch_learning_rate"):
            if not 0 < getattr(self, name) <= 100:
                yield f"{name}: must be above 0 and at most 100, got {getattr(self, name)}"
        warmup = self.scratch_warmup_steps
        if not 0 <= warmup <= 10**6:
            yield f"scratch_warmup_steps: must be from 0 to 1000000, got {warmup}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: must be in [0, 1), got {self.dropout}"
