"""Checkpoint averaging: the mean of the weights is often better than any single checkpoint."""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.io import files
from t2t_phrase.io.line_counts import counted
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.adapters import adapters
from t2t_phrase.runs.commands import copy_commands
from t2t_phrase.runs.kept_vocabularies import copy_vocabularies, kept_vocabularies
from t2t_phrase.runs.load_model import find_record, run_above
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.vocabulary import imported_files
from t2t_phrase.runs.writing import writing


def last_checkpoints(folder: str | os.PathLike[str], count: int) -> list[str]:
    """Return the paths of the last `count` checkpoints of a run.

    Raises:
        UserError: the folder holds fewer checkpoints.
    """
    found = checkpoints.complete(folder)
    if not found:
        raise UserError(f"{folder} holds no checkpoint; give the --output_dir of a training run")
    if count > len(found):
        raise UserError(
            f"--num_last_checkpoints={count}: {folder} holds {counted(len(found), 'checkpoint')}; "
            "give at most that many, or train with a smaller --local_eval_frequency"
        )
    return found[-count:]


def average_checkpoints(
    paths: Sequence[str], output_folder: str | os.PathLike[str]
) -> tuple[str, list[int]]:
    """Write `model.ckpt-STEP` with the mean weights of `paths`, and `hparams.json` beside it.

    STEP is the highest of their steps. The state of the optimizer is left out. The vocabularies
    and commands that the run has kept are copied, too. Adapters (`lora_rank`) are averaged as what
    they add to their kernels: the kernel of the average is the mean of W + A B, and its B is zero.

    Args:
        paths: checkpoints, or folders, which stand for their latest checkpoint.
        output_folder: a folder that contains none of them.

    Returns:
        (path of the new checkpoint, steps of the averaged ones).

    Raises:
        UserError: a checkpoint or a vocabulary is damaged, a checkpoint is given twice, two are of
            runs with different settings or differ in names or shapes of weights, one is in the
            output folder, or that folder holds a training run.
        WriteError: the disk is full or fails.
    """
    resolved = [checkpoints.resolve(path) for path in paths]
    if not resolved:
        raise UserError("--checkpoints: give at least one checkpoint")
    target = pathlib.Path(output_folder)
    _check_places(resolved, target)
    _check_no_run(target)
    _check_alike(resolved)
    records = [find_record(path) for path in resolved]
    _check_settings(resolved, records)
    vocabularies = imported_files(resolved[-1], records[-1])
    folder = pathlib.Path(resolved[-1]).parent
    places = [place for place in (run_above(folder), folder) if place is not None]
    for place in places:
        kept_vocabularies(place, records[-1])  # Raises an error if one is damaged.
    steps = [checkpoints.read_step(path) for path in resolved]
    with writing(target, flag="--output_path"):
        mean = _mean(resolved, steps)
        path = str(target / f"{checkpoints.PREFIX}-{max(steps)}")
        for file in vocabularies:
            files.write(target / file.name, file.read_bytes())
        for place in places:
            copy_vocabularies(place, target)
            copy_commands(place, target)
        records[-1].save(target)
        checkpoints.write(path, model=mean, step=max(steps))
        checkpoints.set_latest(target, [path])
    return path, steps


def _check_places(paths: Sequence[str], target: pathlib.Path) -> None:
    places: dict[tuple[int, int], str] = {}
    for path in paths:
        found = os.stat(f"{path}.index")
        # Hard links, as in best/, are the same file under two names.
        other = places.setdefault((found.st_dev, found.st_ino), path)
        if other is not path:
            raise _same(other, path)
        if os.path.dirname(os.path.realpath(path)) == os.path.realpath(target):
            raise UserError(
                f"--output_path={target} is the folder of checkpoint {path}, which the average "
                "would overwrite or outdate; give another folder"
            )


def _check_no_run(target: pathlib.Path) -> None:
    for path in checkpoints.complete(target):
        try:
            trained = checkpoints.has_optimizer(path)
        except UserError:
            continue  # A damaged average is replaced.
        if trained:
            raise UserError(
                f"--output_path={target} holds a training run, whose checkpoint {path} the average "
                "would replace; give another folder"
            )


def _same(one: str, other: str) -> UserError:
    if one == other:
        return UserError(f"checkpoint {one} is given twice; each may count only once")
    return UserError(f"{one} and {other} are the same checkpoint; each may count only once")


def _check_settings(paths: Sequence[str], records: Sequence[RunRecord]) -> None:
    for path, record in zip(paths, records, strict=True):
        changed = records[0].differences(record)
        if changed:
            raise UserError(
                f"{paths[0]} and {path} are from runs with different settings, whose weights "
                f"cannot be averaged: {'; '.join(changed[:10])}; give checkpoints of one run"
            )


def _mean(paths: Sequence[str], steps: Sequence[int]) -> dict[str, np.ndarray]:
    first = checkpoints.read_tensors(paths[0])
    total = _with_adapters_added(first)
    seen = {(steps[0], _digest(first)): paths[0]}
    for path, step in zip(paths[1:], steps[1:], strict=True):
        tensors = checkpoints.read_tensors(path)
        other = seen.setdefault((step, _digest(tensors)), path)
        if other is not path:
            raise _same(other, path)
        for name, value in _with_adapters_added(tensors).items():
            total[name] += value
    return {name: (total[name] / len(paths)).astype(first[name].dtype) for name in first}


def _with_adapters_added(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the weights in float64, with adapters added to their kernels and B set to zero."""
    values = {name: value.astype(np.float64) for name, value in tensors.items()}
    for kernel, (a, b) in adapters(values).items():
        values[kernel] += values[a] @ values[b]
        values[b] = np.zeros_like(values[b])
    return values


def _digest(tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()


def _check_alike(paths: Sequence[str]) -> None:
    shapes, *rest = (
        {name: shape for name, (_, shape) in checkpoints.reader(path).group("model").items()}
        for path in paths
    )
    for other, others in zip(paths[1:], rest, strict=True):
        faults = [f"{name} is in {paths[0]} only" for name in sorted(set(shapes) - set(others))]
        faults += [f"{name} is in {other} only" for name in sorted(set(others) - set(shapes))]
        faults += [
            f"{name} is {shapes[name]} in {paths[0]}, {others[name]} in {other}"
            for name in sorted(set(shapes) & set(others))
            if shapes[name] != others[name]
        ]
        if faults:
            raise UserError("these are checkpoints of different models: " + "; ".join(faults[:10]))
