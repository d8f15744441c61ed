"""Learning rates in tensor2tensor's notation: a product of factors, `constant*linear_warmup`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from t2t_phrase import registry


def make_schedule(hparams: Any, *, train_steps: int) -> FactorSchedule:
    """Return the learning rate that `hparams` describe."""
    return FactorSchedule(
        hparams.learning_rate_schedule,
        constant=hparams.learning_rate_constant,
        warmup_steps=hparams.learning_rate_warmup_steps,
        decay_steps=hparams.learning_rate_decay_steps,
        hidden_size=hparams.hidden_size,
        train_steps=train_steps,
        halving_start=hparams.learning_rate_halving_start,
        halving_steps=max(1, hparams.learning_rate_halving_steps),
    )


# A run whose highest rate is a smaller share of the intended one is probably a mistake.
_SHARE = 0.9


def length_warning(hparams: Any, *, train_steps: int) -> str:
    """Return a warning if a run is too short or too long for its schedule; else "".

    It is too short if it ends before its rate reaches the schedule's maximum: the highest rate of
    the run is compared with that of a run as long as warm-up and decay. It is too long if its
    factor `cosdecay` rises again.

    Args:
        hparams: hyperparameters with the schedule.
        train_steps: the step at which the run ends.
    """
    factors = [factor.strip() for factor in hparams.learning_rate_schedule.split("*")]
    decay = hparams.learning_rate_decay_steps
    if "cosdecay" in factors and train_steps > decay:
        return (
            f"WARNING: --train_steps={train_steps} is high for this learning-rate schedule: its "
            f"factor cosdecay reaches 0 at step {decay} and rises again. For a run of this length "
            f"add --hparams=learning_rate_decay_steps={train_steps}"
        )
    warms = "linear_warmup" in factors
    warmup = hparams.learning_rate_warmup_steps if warms else 0
    # The cosine counts from step 0, and the linear decay from the end of the run.
    full = max(
        warmup + (decay if "linear_decay" in factors else 0), decay if "cosdecay" in factors else 0
    )
    if train_steps >= full:
        return ""
    found, intended = (
        _highest(make_schedule(hparams, train_steps=steps), upto=min(steps, full), warmup=warmup)
        for steps in (train_steps, full)
    )
    if found >= _SHARE * intended:
        return ""
    fitting = []
    if warms:
        warmup = min(warmup, max(1, train_steps // 10))
        fitting.append(f"learning_rate_warmup_steps={warmup}")
    if "cosdecay" in factors:
        fitting.append(f"learning_rate_decay_steps={train_steps}")
    elif "linear_decay" in factors:
        fitting.append(f"learning_rate_decay_steps={max(1, train_steps - warmup)}")
    return (
        f"WARNING: --train_steps={train_steps} is low for this learning-rate schedule, "
        f"which takes {full} steps: the rate reaches {found:.2g}, {found / intended:.0%} of "
        f"{intended:.2g}. For a run of this length add --hparams={','.join(fitting)}"
    )


def _highest(schedule: FactorSchedule, *, upto: int, warmup: int) -> float:
    """Return the highest rate at a hundred steps up to `upto` and at the end of the warm-up."""
    steps = {*np.linspace(0, upto, 100).astype(int), min(warmup, upto)}
    return max(float(schedule(np.asarray(step))) for step in sorted(steps))


@keras.saving.register_keras_serializable(package="t2t_phrase")
class FactorSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """A product of factors that depend on the step.

    The step is the number of updates made before this one, as in tensor2tensor: 0 for the first
    update. With W = `warmup_steps`, N = `decay_steps`, D = `hidden_size`, A = `halving_start` and
    P = `halving_steps`:

    | factor | value |
    |---|---|
    | constant | `constant` |
    | linear_warmup | min(1, step / W) |
    | rsqrt_decay | 1 / sqrt(max(step, W)) |
    | rsqrt_hidden_size | 1 / sqrt(D) |
    | linear_decay | (`train_steps` - step) / N, clipped to [0, 1] |
    | cosdecay | 1 up to W, then (1 + cos(pi step / N)) / 2 |
    | halving | 1 before A, then 1 / 2^(1 + floor((step - A) / P)) |

    `constant*halving` with plain SGD is the schedule of Luong et al. (2015): rate 1, halved after
    five epochs and then every epoch. A and P are these epochs in steps.

    A function in `registry.schedule_factors` is a factor, too. It is called with the step, a
    float32 scalar, and this schedule, whose attributes are the constructor's arguments.

    Args:
        factors: names from the table, joined by `*`.
        constant: the value of the factor `constant`.
        warmup_steps: W, positive.
        decay_steps: N, positive.
        hidden_size: D.
        train_steps: the step at which training ends.
        halving_start: A.
        halving_steps: P, positive.
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
        halving_start: int = 0,
        halving_steps: int = 1,
    ) -> None:
        self.factors = factors
        self.constant = constant
        self.warmup_steps = warmup_steps
        self.decay_steps = decay_steps
        self.hidden_size = hidden_size
        self.train_steps = train_steps
        self.halving_start = halving_start
        self.halving_steps = halving_steps
        self._factors = [self._factor(name.strip()) for name in factors.split("*")]

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a float32 scalar, for the update that follows `step` others."""
        step = ops.cast(step, "float32")
        rate = ops.ones((), dtype="float32")
        for factor in self._factors:
            rate = rate * factor(step)
        return rate

    @property
    def may_read_train_steps(self) -> bool:
        """Whether the rate depends on `train_steps`: `linear_decay` reads it, and users' may."""
        names = {name.strip() for name in self.factors.split("*")}
        return "linear_decay" in names or any(name in registry.schedule_factors for name in names)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "factors": self.factors,
            "constant": self.constant,
            "warmup_steps": self.warmup_steps,
            "decay_steps": self.decay_steps,
            "hidden_size": self.hidden_size,
            "train_steps": self.train_steps,
            "halving_start": self.halving_start,
            "halving_steps": self.halving_steps,
        }

    def _factor(self, name: str) -> Callable[[Any], Any]:
        if name in registry.schedule_factors:
            return functools.partial(registry.schedule_factors[name], schedule=self)
        return getattr(self, f"_{name}")

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

    def _halving(self, step: Any) -> Any:
        # Whole numbers, so that the rate changes at exactly these steps.
        after = ops.cast(step, "int32") - self.halving_start
        halvings = ops.where(after < 0, 0, 1 + after // self.halving_steps)
        return ops.power(0.5, ops.cast(halvings, "float32"))
