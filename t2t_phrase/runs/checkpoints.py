"""Checkpoints `model.ckpt-STEP`: every variable under its own name, complete or absent."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from t2t_phrase import files
from t2t_phrase.config import UserError

PREFIX = "model.ckpt"
_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class CheckpointWriteError(OSError):
    """A checkpoint could not be written; earlier ones are untouched."""


@dataclasses.dataclass(frozen=True)
class RestoreReport:
    """Which variables a checkpoint and a model have in common; entries are names of variables."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]
    """Wanted by the model, not in the checkpoint."""
    mismatched: tuple[str, ...]
    """In both with different shapes: "name: (8, 4) in the checkpoint, (8, 2) in the model"."""
    unused: tuple[str, ...]
    """In the checkpoint only."""

    def __str__(self) -> str:
        lines = [f"{len(self.matched)} variables match"]
        for title, names in (
            ("missing in the checkpoint", self.missing),
            ("of another shape", self.mismatched),
            ("not used by the model", self.unused),
        ):
            lines += [f"{len(names)} {title}:"] * bool(names) + [f"  {name}" for name in names]
        return "\n".join(lines)


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
        # Keras numbers variables without a name through the whole process.
        name = re.sub(r"^variable_\d+$", "variable", variable.name)
        if owner:
            name = f"{owners[owner]}/{name.removeprefix(owner)[1:]}"
        repeats[name] += 1
        if repeats[name] > 1:
            name = f"{name}:{repeats[name]}"
        named[name] = variable
    return named


def write(
    path: str | os.PathLike[str],
    *,
    model: Mapping[str, Any],
    optimizer: Mapping[str, Any] | None = None,
    step: int,
    state: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint under a temporary name first, so that `path` is complete or absent.

    Args:
        path: such as `run/model.ckpt-1000`.
        model: variables or arrays by name.
        optimizer: likewise.
        step: number of updates so far.
        state: JSON-serialisable values, such as the position in the data.

    Raises:
        CheckpointWriteError: the disk is full, or the folder cannot be written.
    """
    target = pathlib.Path(path)
    temporary = target.parent / f".{target.name}.tmp"
    groups = {"model": dict(model), "optimizer": dict(optimizer or {})}
    tracked = {
        group: {name: _variable(value) for name, value in values.items()}
        for group, values in groups.items()
    }
    checkpoint = tf.train.Checkpoint(
        step=tf.Variable(step, dtype=tf.int64),
        state=tf.Variable(json.dumps(dict(state or {}))),
        **tracked,
    )
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        checkpoint.write(str(temporary / target.name))
        # The index is moved last, because a checkpoint without one does not count.
        for file in sorted(temporary.iterdir(), key=lambda f: f.suffix == ".index"):
            _flush(file)
            os.replace(file, target.parent / file.name)
    except (OSError, tf.errors.OpError) as error:
        raise CheckpointWriteError(f"{target} could not be written: {_reason(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_tensors(path: str | os.PathLike[str], group: str = "model") -> dict[str, np.ndarray]:
    """Return all arrays of "model" or "optimizer" by name."""
    reader = _reader(path)
    return {name: reader.get_tensor(key) for name, (key, _) in _entries(reader, group).items()}


def holds(path: str | os.PathLike[str], group: str) -> bool:
    """Return whether a checkpoint has any variable of "model" or "optimizer"."""
    return bool(_entries(_reader(path), group))


def read_step(path: str | os.PathLike[str]) -> int:
    """Return the number of updates at which the checkpoint was written."""
    return int(_reader(path).get_tensor(f"step{_SUFFIX}"))


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what `write` was given as `state`."""
    return json.loads(_reader(path).get_tensor(f"state{_SUFFIX}"))


def assign(
    path: str | os.PathLike[str],
    variables: Mapping[str, keras.Variable],
    *,
    group: str = "model",
) -> RestoreReport:
    """Assign every variable that the checkpoint has in the same shape; leave the others alone."""
    reader = _reader(path)
    entries = _entries(reader, group)
    matched, missing, mismatched = [], [], []
    for name, variable in variables.items():
        if name not in entries:
            missing.append(name)
        elif tuple(entries[name][1]) != tuple(variable.shape):
            shapes = f"{tuple(entries[name][1])} in the checkpoint, {tuple(variable.shape)}"
            mismatched.append(f"{name}: {shapes} in the model")
        else:
            variable.assign(reader.get_tensor(entries[name][0]))
            matched.append(name)
    unused = sorted(set(entries) - set(variables))
    return RestoreReport(tuple(matched), tuple(missing), tuple(mismatched), tuple(unused))


def restore(model: keras.Model, path: str | os.PathLike[str]) -> RestoreReport:
    """Set all weights of `model` from a checkpoint.

    Raises:
        UserError: a variable is missing or has another shape; the message names all of them.
    """
    report = assign(path, model_variables(model))
    if report.missing or report.mismatched:
        raise UserError(f"checkpoint {path} does not fit the model: {report}")
    return report


def complete(folder: str | os.PathLike[str]) -> list[str]:
    """Return the paths of the complete checkpoints in a folder, by ascending step."""
    found = []
    for index in pathlib.Path(folder).glob(f"{PREFIX}-*.index"):
        match = re.fullmatch(rf"{re.escape(PREFIX)}-(\d+)", index.stem)
        if match and next(index.parent.glob(f"{index.stem}.data-*"), None):
            found.append((int(match[1]), str(index.with_suffix(""))))
    return [path for _, path in sorted(found)]


def latest(folder: str | os.PathLike[str]) -> str | None:
    """Return the newest complete checkpoint of a folder; None: there is none.

    It is the one that the file `checkpoint` names, or else the one with the highest step.
    """
    whole = complete(folder)
    state = tf.train.get_checkpoint_state(str(folder))
    named = state.model_checkpoint_path if state else ""
    if named and os.path.basename(named) in map(os.path.basename, whole):
        return str(pathlib.Path(folder) / os.path.basename(named))
    return whole[-1] if whole else None


def resolve(path: str | os.PathLike[str]) -> str:
    """Return a checkpoint's path for a run's folder, a checkpoint, or one of its files.

    Raises:
        UserError: there is no checkpoint.
    """
    given = str(pathlib.Path(path).expanduser())
    if os.path.isdir(given):
        found = latest(given)
        if found is None:
            raise UserError(f"{given} holds no checkpoint ({PREFIX}-STEP.index)")
        return found
    prefix = re.sub(r"\.(index|data-\d+-of-\d+)$", "", given)
    if not os.path.exists(f"{prefix}.index"):
        raise UserError(f"checkpoint {given} does not exist: there is no {prefix}.index")
    return prefix


def set_latest(folder: str | os.PathLike[str], paths: Sequence[str]) -> None:
    """Write the file `checkpoint`, in which the last of `paths` is the newest."""
    names = [os.path.basename(path) for path in paths]
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    try:
        files.write(pathlib.Path(folder) / "checkpoint", "\n".join(lines) + "\n")
    except OSError as error:
        raise CheckpointWriteError(f"{folder}/checkpoint: {_reason(error)}") from error


def delete(path: str) -> None:
    """Delete a checkpoint's files, the index first."""
    for file in sorted(files_of(path), key=lambda f: f.suffix != ".index"):
        file.unlink(missing_ok=True)


def files_of(path: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Return the files that make up one checkpoint."""
    prefix = pathlib.Path(path)
    data = prefix.parent.glob(f"{prefix.name}.data-*")
    return [*data, prefix.with_name(f"{prefix.name}.index")]


def _variable(value: Any) -> Any:
    if isinstance(value, keras.Variable):
        return value.value
    return tf.Variable(value) if isinstance(value, np.ndarray) else value


def _reader(path: str | os.PathLike[str]) -> Any:
    try:
        return tf.train.load_checkpoint(str(path))
    except (tf.errors.OpError, ValueError) as error:
        raise UserError(f"checkpoint {path} cannot be read: {_reason(error)}") from error


def _entries(reader: Any, group: str) -> dict[str, tuple[str, Iterable[int]]]:
    """Return (key in the file, shape) by name; the format escapes "/" in names."""
    start = f"{group}/"
    return {
        key[len(start) : -len(_SUFFIX)].replace(".S", "/").replace("..", "."): (key, shape)
        for key, shape in reader.get_variable_to_shape_map().items()
        if key.startswith(start) and key.endswith(_SUFFIX)
    }


def _flush(file: pathlib.Path) -> None:
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())


def _reason(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error)
    return text.splitlines()[0] if text else type(error).__name__
