"""The names under which checkpoints hold the variables of a model and of an optimizer."""

from __future__ import annotations

import collections
import re

import keras


def model_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Return the weights by path, without the model's name and without random states."""
    named = {
        v.path.removeprefix(f"{model.name}/"): v
        for v in model.variables
        if v.name != "seed_generator_state"
    }
    states = sum(v.name == "seed_generator_state" for v in model.variables)
    if len(named) + states != len(model.variables):
        raise ValueError(f"{model.name}: two variables have the same path")
    return named


def optimizer_variables(
    optimizer: keras.optimizers.Optimizer, model: keras.Model
) -> dict[str, keras.Variable]:
    """Return the optimizer's state, its slots named `VARIABLE/SLOT` after the model's variables.

    State that Keras does not name after a variable of the model keeps Keras' name; repeated names
    are numbered in Keras' order.
    """
    owners = {v.path.replace("/", "_"): name for name, v in model_variables(model).items()}
    named: dict[str, keras.Variable] = {}
    repeats: collections.Counter[str] = collections.Counter()
    for variable in optimizer.variables:
        prefixes = [owner for owner in owners if variable.name.startswith(f"{owner}_")]
        owner = max(prefixes, key=len, default="")
        # Keras numbers variables without a name across the whole process.
        name = re.sub(r"^variable_\d+$", "variable", variable.name)
        if owner:
            name = f"{owners[owner]}/{name.removeprefix(owner)[1:]}"
        repeats[name] += 1
        if repeats[name] > 1:
            name = f"{name}:{repeats[name]}"
        named[name] = variable
    return named
