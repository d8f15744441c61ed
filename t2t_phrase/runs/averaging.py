"""Checkpoint averaging: the mean of the weights is often better than any single checkpoint."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import find_record


def last_checkpoints(folder: str | os.PathLike[str], count: int) -> list[str]:
    """Return the paths of the last `count` checkpoints of a run.

    Raises:
        UserError: there are fewer.
    """
    found = checkpoints.complete(folder)
    if count > len(found):
        raise UserError(
            f"--num_last_checkpoints={count}: {folder} holds {len(found)} checkpoints; give at "
            "most that many, or train with a smaller --local_eval_frequency"
        )
    return found[-count:]


def average_checkpoints(
    paths: Sequence[str], output_folder: str | os.PathLike[str]
) -> tuple[str, list[int]]:
    """Write `model.ckpt-STEP` with the mean weights of `paths`, and `hparams.json` beside it.

    STEP is the highest of their steps. The state of the optimizer is left out.

    Args:
        paths: checkpoints, or folders, which stand for their latest checkpoint.
        output_folder: a folder that contains none of them.

    Returns:
        (path of the new checkpoint, steps of the averaged ones).

    Raises:
        UserError: a checkpoint is given twice, two differ in names or shapes of weights, or one
            is in the output folder.
    """
    resolved = [checkpoints.resolve(path) for path in paths]
    if not resolved:
        raise UserError("--checkpoints: give at least one checkpoint")
    target = pathlib.Path(output_folder)
    _check_places(resolved, target)
    mean = _mean(resolved)
    steps = [checkpoints.read_step(path) for path in resolved]
    record = find_record(resolved[-1])
    target.mkdir(parents=True, exist_ok=True)
    path = str(target / f"{checkpoints.PREFIX}-{max(steps)}")
    try:
        checkpoints.write(path, model=mean, step=max(steps))
        checkpoints.set_latest(target, [path])
        record.save(target)
    except OSError as error:
        raise UserError(str(error)) from error
    return path, steps


def _check_places(paths: Sequence[str], target: pathlib.Path) -> None:
    real = [os.path.realpath(path) for path in paths]
    for path, place in zip(paths, real, strict=True):
        if real.count(place) > 1:
            raise UserError(f"checkpoint {path} is given twice; each may count only once")
        if os.path.dirname(place) == os.path.realpath(target):
            raise UserError(
                f"--output_path={target} is the folder of checkpoint {path}, which the average "
                "would overwrite or outdate; give another folder"
            )


def _mean(paths: Sequence[str]) -> dict[str, np.ndarray]:
    first = checkpoints.read_tensors(paths[0])
    total = {name: value.astype(np.float64) for name, value in first.items()}
    for path in paths[1:]:
        tensors = checkpoints.read_tensors(path)
        _check_alike(paths[0], first, path, tensors)
        for name, value in tensors.items():
            total[name] += value
    return {name: (total[name] / len(paths)).astype(first[name].dtype) for name in first}


def _check_alike(
    path: str, tensors: Mapping[str, np.ndarray], other: str, others: Mapping[str, np.ndarray]
) -> None:
    faults = [f"{name} is in {path} only" for name in sorted(set(tensors) - set(others))]
    faults += [f"{name} is in {other} only" for name in sorted(set(others) - set(tensors))]
    faults += [
        f"{name} is {tensors[name].shape} in {path}, {others[name].shape} in {other}"
        for name in sorted(set(tensors) & set(others))
        if tensors[name].shape != others[name].shape
    ]
    if faults:
        raise UserError("these are checkpoints of different models: " + "; ".join(faults[:10]))
