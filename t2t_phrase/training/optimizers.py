"""Any optimizer of Keras, or of a user's package, made from hparams."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import keras

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, nearest
from t2t_phrase.training_hparams import (
    OPTIMIZER_FIELDS,
    OPTIMIZERS,
    TrainingHParams,
    fields_of,
    parse_option,
)

# Arguments that are not options: the trainer sets the schedule, clips the reduced gradient, makes
# one update in each step, and never overwrites weights with their moving averages.
_SET_ELSEWHERE = frozenset({
    *("self", "learning_rate", "name", "kwargs", "clipnorm", "clipvalue", "global_clipnorm"),
    "ema_overwrite_frequency",
    *("loss_scale_factor", "gradient_accumulation_steps"),
})  # fmt: skip

# Options that weigh the past of a moving average.
_RATES = re.compile(r"momentum|ema_momentum|rho|(\w+_)?beta_[12]")


def make_optimizer(
    hparams: TrainingHParams, schedule: Callable[[Any], Any]
) -> keras.optimizers.Optimizer:
    """Return the optimizer that `hparams` describe.

    Args:
        hparams: `optimizer` and the fields that it reads.
        schedule: the learning rate.

    Raises:
        HParamsError: `optimizer_options` names an option that the optimizer does not have, or gives
            it a value that Keras refuses, or with which it would diverge or ignore the option.
    """
    values = {
        "optimizer_adam_beta1": hparams.optimizer_adam_beta1,
        "optimizer_adam_beta2": hparams.optimizer_adam_beta2,
        "optimizer_adam_epsilon": hparams.optimizer_adam_epsilon,
        "optimizer_momentum": hparams.optimizer_momentum,
    }
    arguments: dict[str, Any] = {
        OPTIMIZER_FIELDS[field]: values[field] for field in fields_of(hparams.optimizer)
    }
    known = options_of(hparams.optimizer)
    for text in hparams.optimizer_options:
        name, value = parse_option(text)
        if name not in known:
            raise HParamsError(
                f"optimizer_options: {hparams.optimizer} has no option {name!r}; known: "
                f"{', '.join(sorted(known)) or 'none'}{nearest(name, known)}"
            )
        if fault := _fault(hparams.optimizer, name, value, known[name]):
            raise HParamsError(f"optimizer_options: {name} {fault}, got {text!r}")
        arguments[name] = value
    if "ema_momentum" in arguments and not arguments.get("use_ema", known.get("use_ema")):
        raise HParamsError("optimizer_options: ema_momentum is read only with use_ema=true")
    try:
        return optimizer_class(hparams.optimizer)(
            learning_rate=schedule, name=hparams.optimizer, **arguments
        )
    except (ValueError, TypeError) as error:
        raise HParamsError(f"optimizer={hparams.optimizer}: {error}") from error


def _fault(optimizer: str, name: str, value: float, default: float | None) -> str:
    """Return the fault of an option's value, or ""."""
    if isinstance(default, bool) != isinstance(value, bool):
        return f"must be {'true or false' if isinstance(default, bool) else 'a number'}"
    if name.endswith("weight_decay") and value < 0:
        return "must not be negative"
    # Other classes may use these names for something else.
    if (optimizer in OPTIMIZERS or name == "ema_momentum") and _RATES.fullmatch(name):
        return "" if 0 <= value < 1 else "must be in [0, 1)"
    # Keras writes some defaults of real numbers as 0 or 1.
    if type(default) is int and default > 1 and (value < 1 or not isinstance(value, int)):
        return "must be a positive integer"
    return ""


def optimizer_class(name: str) -> type[keras.optimizers.Optimizer]:
    """Return the class of a registered optimizer, or Keras' class for a name in `OPTIMIZERS`.

    Those names are the class names in lower case. For Adam on TensorFlow, the class is a subclass
    with a faster update; for Muon, a subclass for all kernels.
    """
    if name in registry.optimizers:
        return registry.optimizers[name]
    if name == "muon":
        from t2t_phrase.training.kernel_muon import KernelMuon

        return KernelMuon
    if name == "adam" and keras.backend.backend() == "tensorflow":
        from t2t_phrase.training.fused_adam import FusedAdam

        return FusedAdam
    found = {key.lower(): value for key, value in vars(keras.optimizers).items()}
    return found[name.replace("_", "")]


def options_of(name: str) -> dict[str, Any]:
    """Return the options that `optimizer_options` may set, with Keras' defaults.

    These are the numbers and switches of the constructor for which there is no field.
    """
    by_field = {OPTIMIZER_FIELDS[field] for field in fields_of(name)}
    parameters = inspect.signature(optimizer_class(name).__init__).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.name not in _SET_ELSEWHERE | by_field
        and (parameter.name == "weight_decay" or isinstance(parameter.default, (int, float)))
    }
