"""Learning rates as tensor2tensor writes them: factors multiplied, `constant*linear_warmup*...`."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="t2t_phrase")
class FactorSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """The product of named factors of the step.

    The step is the number of updates made before this one, as in tensor2tensor: the first update
    sees 0. With W = `warmup_steps`, N = `decay_steps` and D = `hidden_size`:

    | factor | value |
    |---|---|
    | constant | `constant` |
    | linear_warmup | min(1, step / W) |
    | rsqrt_decay | 1 / sqrt(max(step, W)) |
    | rsqrt_hidden_size | 1 / sqrt(D) |
    | linear_decay | (`train_steps` - step) / N, kept in [0, 1] |
    | cosdecay | 1 up to W, then (1 + cos(pi step / N)) / 2 |

    Args:
        factors: names joined by `*`, each from the table.
        constant: the value of the factor `constant`.
        warmup_steps: W, positive.
        decay_steps: N, positive.
        hidden_size: D.
        train_steps: the step at which training ends.
    """

    def __init__(
        self,
        factors: str,
        *,
        constant: float,
        warmup_steps: int,
        decay_steps: int,
        hidden_size: int,
        train_steps: int,
    ) -> None:
        self.factors = factors
        self.constant = constant
        self.warmup_steps = warmup_steps
        self.decay_steps = decay_steps
        self.hidden_size = hidden_size
        self.train_steps = train_steps
        self._factors = [getattr(self, f"_{name.strip()}") for name in factors.split("*")]

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a float32 scalar, of the update after `step` updates."""
        step = ops.cast(step, "float32")
        rate = ops.ones((), dtype="float32")
        for factor in self._factors:
            rate = rate * factor(step)
        return rate

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "factors": self.factors,
            "constant": self.constant,
            "warmup_steps": self.warmup_steps,
            "decay_steps": self.decay_steps,
            "hidden_size": self.hidden_size,
            "train_steps": self.train_steps,
        }

    def _constant(self, step: Any) -> Any:
        return self.constant

    def _linear_warmup(self, step: Any) -> Any:
        return ops.minimum(1.0, step / self.warmup_steps)

    def _rsqrt_decay(self, step: Any) -> Any:
        return ops.rsqrt(ops.maximum(step, float(self.warmup_steps)))

    def _rsqrt_hidden_size(self, step: Any) -> Any:
        return self.hidden_size**-0.5

    def _linear_decay(self, step: Any) -> Any:
        return ops.clip((self.train_steps - step) / self.decay_steps, 0.0, 1.0)

    def _cosdecay(self, step: Any) -> Any:
        decayed = 0.5 * (1.0 + ops.cos(math.pi * step / self.decay_steps))
        return ops.where(step <= self.warmup_steps, 1.0, decayed)
