"""The options of training that every model family shares."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal

from t2t_phrase.config import HParams
from t2t_phrase.features import Feature

SCHEDULE_FACTORS = (
    "constant",
    "linear_warmup",
    "rsqrt_decay",
    "rsqrt_hidden_size",
    "linear_decay",
    "cosdecay",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingHParams(HParams):
    """Batches, optimizer and learning rate; names and defaults are tensor2tensor's."""

    batch_size: int = 4096  # tokens of the longer side, padding included, per replica
    max_length: int = 256  # longer training examples are dropped, and counted
    min_length_bucket: int = 8  # shortest padded length
    length_bucket_step: float = 1.1  # ratio of one padded length to the next
    label_smoothing: float = 0.1  # probability mass taken from the right token
    optimizer_adam_beta1: float = 0.9
    optimizer_adam_beta2: float = 0.997
    optimizer_adam_epsilon: float = 1e-9
    learning_rate_schedule: str = "constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size"
    learning_rate_constant: float = 2.0
    learning_rate_warmup_steps: int = 8000
    learning_rate_decay_steps: int = 5000  # read by linear_decay and cosdecay
    clip_grad_norm: float = 0.0  # largest global norm of the gradient; 0 = any
    dtype_policy: Literal["float32", "mixed_bfloat16"] = "float32"  # variables stay float32

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the model reads beside the token ids of both sides."""
        return ()

    @property
    def reads_phrases(self) -> bool:
        """Whether the model reads the feature "phrases"."""
        return any(feature.name == "phrases" for feature in self.features)

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        for name in (
            "batch_size",
            "min_length_bucket",
            "optimizer_adam_epsilon",
            "learning_rate_constant",
            "learning_rate_warmup_steps",
            "learning_rate_decay_steps",
        ):
            if getattr(self, name) <= 0:
                yield f"{name}: must be positive, got {getattr(self, name)}"
        for name in ("label_smoothing", "optimizer_adam_beta1", "optimizer_adam_beta2"):
            if not 0 <= getattr(self, name) < 1:
                yield f"{name}: must be in [0, 1), got {getattr(self, name)}"
        if self.length_bucket_step <= 1:
            yield f"length_bucket_step: must be above 1, got {self.length_bucket_step}"
        if self.max_length < self.min_length_bucket:
            shortest = self.min_length_bucket
            yield f"max_length={self.max_length} is below min_length_bucket={shortest}"
        if self.batch_size < self.max_length:
            yield (
                f"batch_size={self.batch_size} tokens cannot hold one sentence of "
                f"max_length={self.max_length}"
            )
        if self.clip_grad_norm < 0:
            yield f"clip_grad_norm: must not be negative, got {self.clip_grad_norm}"
        for factor in self.learning_rate_schedule.split("*"):
            if factor.strip() not in SCHEDULE_FACTORS:
                yield (
                    f"learning_rate_schedule: unknown factor {factor.strip()!r}; known: "
                    + ", ".join(SCHEDULE_FACTORS)
                )
