"""Hyperparameters of regularisation other than dropout and label smoothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from t2t_phrase.training_hparams import TrainingHParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class RegularizationHParams(TrainingHParams):
    """Word dropout and R-Drop, for models of any family that predict tokens."""

    source_word_dropout: float = 0.0  # share of source tokens read as unknown in training
    target_word_dropout: float = 0.0  # likewise for the target tokens that the decoder reads
    r_drop: float = 0.0  # weight of R-Drop's divergence of two passes; 0 = one pass

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        yield from self.below_one("source_word_dropout", "target_word_dropout")
        if self.r_drop < 0:
            yield f"r_drop: must not be negative, got {self.r_drop}"
        yield from self.at_most(r_drop=10**6)
        dropouts = [value for name, value in vars(self).items() if "dropout" in name]
        if self.r_drop and not any(dropouts):
            yield (
                f"r_drop={self.r_drop}: without any dropout, both passes are the same; set a "
                "dropout, or use r_drop=0"
            )


def without_r_drop(hparams: RegularizationHParams) -> Iterator[str]:
    """Yield a fault if R-Drop is on, for models that predict jumps instead of tokens."""
    if hparams.r_drop:
        yield f"r_drop={hparams.r_drop}: an alignment model predicts jumps, and does not read it"
