"""Checks which backend Keras would use, before importing Keras fails with a traceback."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
from collections.abc import Mapping, Sequence

from t2t_phrase.config import UserError, nearest

VARIABLE = "KERAS_BACKEND"
# SavedModels and probes need TensorFlow; commands that train or read a model also run on JAX.
TENSORFLOW, EITHER = ("tensorflow",), ("tensorflow", "jax")


def check_backend(
    usable: Sequence[str] = EITHER, environment: Mapping[str, str] = os.environ
) -> None:
    """Check that Keras will use a backend that the command can use.

    Keras reads it from `KERAS_BACKEND`, or else from `keras.json` in `KERAS_HOME` or `~/.keras`.

    Args:
        usable: the backends that the command can use.
        environment: the environment variables.

    Raises:
        UserError: Keras uses another backend, or one that is not installed.
    """
    named, place = backend_named(environment)
    if named not in usable:
        raise UserError(
            f"{place} is {named[:40]!r}, but this command runs on {' or '.join(usable)}"
            f"{nearest(named, usable)}; set {VARIABLE}={usable[0]}"
        )
    if importlib.util.find_spec(named) is None:
        raise UserError(
            f"{place} is {named!r}, which is not installed; install it, or set {VARIABLE} to "
            "another"
        )


def backend_named(environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Return the backend that Keras will use, and the place that names it.

    Args:
        environment: the environment variables.
    """
    if named := environment.get(VARIABLE, ""):
        return named, VARIABLE
    path = _home(environment) / "keras.json"
    return _stated(path), f'"backend" in {path}'


def _home(environment: Mapping[str, str]) -> pathlib.Path:
    if "KERAS_HOME" in environment:
        return pathlib.Path(environment["KERAS_HOME"])
    return pathlib.Path(os.path.expanduser("~")) / ".keras"


def _stated(path: pathlib.Path) -> str:
    try:
        stated = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        # Keras uses its default then.
        return "tensorflow"
    named = stated.get("backend") if isinstance(stated, dict) else None
    return "tensorflow" if named is None else str(named)
