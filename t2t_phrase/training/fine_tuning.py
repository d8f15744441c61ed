"""Fine-tuning: frozen variables, and factors on the learning rates of variables."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from typing import Any

import keras
from keras import ops

from t2t_phrase.config import HParamsError, nearest, shown
from t2t_phrase.runs.variable_names import model_variables
from t2t_phrase.training_hparams import parse_factor


def freeze(model: keras.Model, patterns: Iterable[str]) -> int:
    """Make variables untrainable; return their number.

    Args:
        model: a model whose variables all exist.
        patterns: patterns of names, such as `embedding/*` or `encoder_layer_?/*`, see `fnmatch`.

    Raises:
        HParamsError: a pattern matches no variable, or nothing is left to train.
    """
    frozen = {
        name: variable
        for pattern in patterns
        for name, variable in _matching(model, pattern, "frozen_variables").items()
    }
    for variable in frozen.values():
        variable.trainable = False
    if frozen and not model.trainable_variables:
        raise HParamsError("frozen_variables: nothing is left to train")
    return len(frozen)


def scale_learning_rates(
    optimizer: keras.optimizers.Optimizer, model: keras.Model, factors: Iterable[str]
) -> None:
    """Multiply the learning rate of some variables; a variable's last matching pattern counts.

    Args:
        optimizer: built on the trainable variables of the model.
        model: a model whose variables all exist.
        factors: patterns of names with their factors, such as `encoder_*=0.1`.

    Raises:
        HParamsError: a pattern matches no variable, or none that is trained.
    """
    by_variable: dict[int, float] = {}
    for text in factors:
        pattern, factor = parse_factor(text)
        matching = _matching(model, pattern, "learning_rate_factors").values()
        if not any(variable.trainable for variable in matching):
            raise HParamsError(
                f"learning_rate_factors: {shown(pattern)} matches frozen variables only"
            )
        by_variable |= {id(variable): factor for variable in matching}
    if not by_variable:
        return
    by_index = [by_variable.get(id(v), 1.0) for v in model.trainable_variables]
    update, decay = optimizer.update_step, optimizer._apply_weight_decay

    def scaled_update(gradient: Any, variable: Any, learning_rate: Any) -> None:
        factor = by_index[optimizer._get_variable_index(variable)]
        update(gradient, variable, learning_rate if factor == 1.0 else learning_rate * factor)

    def scaled_decay(variables: Iterable[Any]) -> None:
        if not optimizer.weight_decay and not getattr(optimizer, "adam_weight_decay", None):
            return
        for variable in variables:
            factor = by_index[optimizer._get_variable_index(variable)]
            before = ops.copy(variable.value)
            decay([variable])
            if factor != 1.0:
                variable.assign(before + factor * (variable.value - before))

    optimizer.update_step, optimizer._apply_weight_decay = scaled_update, scaled_decay


def _matching(model: keras.Model, pattern: str, option: str) -> dict[str, keras.Variable]:
    variables = model_variables(model)
    found = {n: v for n, v in variables.items() if fnmatch.fnmatchcase(n, pattern)}
    if not found:
        raise HParamsError(
            f"{option}: {shown(pattern)} matches no variable{nearest(pattern, variables)}; "
            "--dry_run prints their names"
        )
    return found
