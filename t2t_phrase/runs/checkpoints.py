"""Checkpoints `model.ckpt-STEP`: every variable under its own name, complete or absent."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import os
import pathlib
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.io import files
from t2t_phrase.io.files import expanded
from t2t_phrase.runs.checkpoint_files import write_errors, write_files
from t2t_phrase.runs.checkpoint_reader import (
    SUFFIX,
    CheckpointReader,
    data_files,
)
from t2t_phrase.runs.variable_names import model_variables as model_variables
from t2t_phrase.runs.variable_names import optimizer_variables as optimizer_variables

PREFIX = "model.ckpt"
# The file that names the newest checkpoint.
STATE_FILE = "checkpoint"


class CheckpointWriteError(files.WriteError):
    """A checkpoint could not be written; earlier ones are untouched."""


@dataclasses.dataclass(frozen=True)
class RestoreReport:
    """A comparison of the variables of a checkpoint and a model, by their names."""

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
            ("missing from the checkpoint", self.missing),
            ("with a different shape", self.mismatched),
            ("not used by the model", self.unused),
        ):
            lines += [f"{len(names)} {title}:"] * bool(names) + [f"  {name}" for name in names]
        return "\n".join(lines)


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
        optimizer: variables or arrays by name.
        step: number of updates so far.
        state: JSON-serialisable values, such as the position in the data.

    Raises:
        CheckpointWriteError: the disk is full, or the folder cannot be written.
    """
    target = pathlib.Path(path)
    temporary = target.parent / f".{target.name}.tmp"
    groups = {"model": dict(model), "optimizer": dict(optimizer or {})}
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        stated = json.dumps(dict(state or {}))
        write_files(str(temporary / target.name), groups, step=step, state=stated)
        # The index is moved last, because a checkpoint without one does not count.
        written = sorted(temporary.iterdir(), key=lambda f: f.suffix == ".index")
        for file in written:
            files.sync(file)
        # Otherwise an earlier checkpoint of that name would briefly mix the data of both.
        pathlib.Path(f"{target}.index").unlink(missing_ok=True)
        for file in written:
            os.replace(file, target.parent / file.name)
        files.sync(target.parent)
    except write_errors() as error:
        raise CheckpointWriteError(
            f"{target} could not be written: {files.reason_of(error)}"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_tensors(path: str | os.PathLike[str], group: str = "model") -> dict[str, np.ndarray]:
    """Return all arrays of "model" or "optimizer" by name."""
    return reader(path).tensors(group)


def count_weights(path: str | os.PathLike[str]) -> int:
    """Return the number of weights of the model in a checkpoint, which `resolve` finds."""
    return sum(math.prod(shape) for _, shape in reader(resolve(path)).group("model").values())


def read_step(path: str | os.PathLike[str]) -> int:
    """Return the number of updates at which the checkpoint was written."""
    return int(reader(path).get(f"step{SUFFIX}"))


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the `state` that was given to `write`."""
    return json.loads(reader(path).get(f"state{SUFFIX}"))


def has_optimizer(path: str | os.PathLike[str]) -> bool:
    """Return whether a checkpoint has the state of an optimizer, which averages lack."""
    return bool(reader(path).group("optimizer"))


def reader(path: str | os.PathLike[str]) -> CheckpointReader:
    """Open a checkpoint.

    Raises:
        UserError: the checkpoint cannot be read, or is damaged; the message gives advice.
    """
    return CheckpointReader(path, _way_on)


def assign(
    path: str | os.PathLike[str],
    variables: Mapping[str, keras.Variable],
    *,
    group: str = "model",
) -> RestoreReport:
    """Assign every variable that the checkpoint has in the same shape; leave the others alone."""
    opened = reader(path)
    entries = opened.group(group)
    matched, missing, mismatched = [], [], []
    for name, variable in variables.items():
        if name not in entries:
            missing.append(name)
        elif entries[name][1] != tuple(variable.shape):
            shapes = f"{entries[name][1]} in the checkpoint, {tuple(variable.shape)}"
            mismatched.append(f"{name}: {shapes} in the model")
        else:
            variable.assign(opened.get(entries[name][0]))
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
    try:
        names = set(os.listdir(folder))
    except OSError:
        return []
    with_data = {name.partition(".data-")[0] for name in names if ".data-" in name}
    found = []
    for name in with_data:
        match = re.fullmatch(rf"{re.escape(PREFIX)}-([0-9]+)", name)
        if match and f"{name}.index" in names:
            found.append((int(match[1]), str(pathlib.Path(folder) / name)))
    return [path for _, path in sorted(found)]


def latest(folder: str | os.PathLike[str]) -> str | None:
    """Return the newest complete checkpoint of a folder; None: there is none.

    It is the one that the file `checkpoint` names. If this file is damaged or names one that is
    missing, it is the one with the highest step, with a warning.
    """
    state = pathlib.Path(folder) / STATE_FILE
    # Read before the checkpoints are listed: a training may save one in between.
    exists, named = state.exists(), _named_newest(state)
    whole = complete(folder)
    if not whole or not exists:
        return whole[-1] if whole else None
    if named is not None and named in map(os.path.basename, whole):
        return str(pathlib.Path(folder) / named)
    fault = "is damaged" if named is None else f"names {named}, which is not there"
    logging.getLogger(__name__).warning("%s %s: using %s", state, fault, whole[-1])
    return whole[-1]


def resolve(path: str | os.PathLike[str]) -> str:
    """Return a checkpoint's path for a run's folder, a checkpoint, or one of its files.

    Raises:
        UserError: there is no checkpoint.
    """
    given = str(expanded(path))
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
        files.write(pathlib.Path(folder) / STATE_FILE, "\n".join(lines) + "\n")
    except files.WriteError as error:
        raise CheckpointWriteError(str(error)) from error
    except OSError as error:
        raise CheckpointWriteError(f"{folder}/{STATE_FILE}: {files.reason_of(error)}") from error


def delete(path: str) -> None:
    """Delete a checkpoint's files, the index first."""
    for file in reversed(files_of(path)):
        file.unlink(missing_ok=True)


def files_of(path: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Return the files that make up one checkpoint, the index last."""
    return [*data_files(path), pathlib.Path(f"{path}.index")]


def _named_newest(state: pathlib.Path) -> str | None:
    """Return the newest checkpoint that the file `checkpoint` names; None: the file is damaged."""
    try:
        text = state.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    match = re.search(r'^model_checkpoint_path: *"(.+)" *$', text, re.MULTILINE)
    return os.path.basename(match[1]) if match else None


def _way_on(path: str) -> str:
    """Return advice on the alternatives to a damaged checkpoint."""
    folder = pathlib.Path(path).parent
    others = [other for other in complete(folder) if pathlib.Path(other) != pathlib.Path(path)]
    if found := next(filter(_is_good, reversed(others)), None):
        return (
            f"the newest intact one is {found}: give that with --checkpoint_path, or delete "
            f"{path}.* to resume the training from it"
        )
    if found := next(filter(_is_good, complete(folder / "best")), None):
        return (
            f"{found} is intact: give that with --checkpoint_path, or continue training from it in "
            "a new --output_dir with --warm_start_from"
        )
    return "no intact checkpoint exists beside it: restore the file from a copy"


def _is_good(path: str) -> bool:
    try:
        CheckpointReader(path, lambda path: "").verify()
    except UserError:
        return False
    return True
