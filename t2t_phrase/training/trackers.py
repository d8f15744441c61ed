"""Weights & Biases and MLflow, which receive the same scalars as TensorBoard."""

from __future__ import annotations

import hashlib
import importlib
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from t2t_phrase.config import UserError, nearest


class Tracker(Protocol):
    """Receives the settings and the scalars of a run."""

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Receive the scalars of a step."""

    def close(self) -> None:
        """End the run."""


class _Wandb:
    def __init__(self, module: Any, folder: pathlib.Path, settings: Mapping[str, Any]) -> None:
        # The same folder is the same run, even after it is resumed.
        self._run = module.init(
            project="t2t_phrase",
            name=folder.name,
            id=_id(folder),
            resume="allow",
            dir=str(folder),
            config=dict(settings),
        )

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


class _MLflow:
    def __init__(self, module: Any, folder: pathlib.Path, settings: Mapping[str, Any]) -> None:
        self._mlflow = module
        module.set_experiment("t2t_phrase")
        module.start_run(run_name=folder.name)
        module.log_params({name: str(value)[:500] for name, value in settings.items()})

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._mlflow.log_metrics(dict(values), step=step)

    def close(self) -> None:
        self._mlflow.end_run()


TRACKERS: dict[str, Callable[[Any, pathlib.Path, Mapping[str, Any]], Tracker]] = {
    "wandb": _Wandb,
    "mlflow": _MLflow,
}


def make_trackers(
    names: Sequence[str], folder: pathlib.Path, settings: Mapping[str, Any]
) -> list[Tracker]:
    """Return the trackers with these names, each of which begins a run.

    Args:
        names: names in `TRACKERS`.
        folder: folder of the run.
        settings: settings of the run, by name.

    Raises:
        UserError: a name is unknown, its package is not installed, or the service refuses the run.
    """
    return [_begun(name, folder, settings) for name in names]


def _begun(name: str, folder: pathlib.Path, settings: Mapping[str, Any]) -> Tracker:
    module = _package(name)
    try:
        return TRACKERS[name](module, folder, settings)
    except Exception as error:
        raise UserError(
            f"--trackers={name}: no run could be begun: {error}; check the login and the network, "
            "or leave the tracker out"
        ) from error


def check_trackers(names: Sequence[str]) -> None:
    """Check that trackers can be made, before training begins.

    Raises:
        UserError: the names are one string, one is unknown, or its package is not installed.
    """
    if isinstance(names, str):
        raise UserError(f"trackers: expected names such as ({names!r},), got {names!r}")
    for name in names:
        _package(name)


def _package(name: str) -> Any:
    if name not in TRACKERS:
        hint = nearest(name, TRACKERS) or f"; known: {', '.join(TRACKERS)}"
        raise UserError(f"--trackers: {name!r} is unknown{hint}")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(
            f"--trackers={name}: the package is not installed: pip install 't2t_phrase[{name}]'"
        ) from error


def _id(folder: pathlib.Path) -> str:
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
