"""Shared code of the experiments with trained runs: their names and contents."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence

from t2t_phrase.config import UserError


def newest(folders: Iterable[pathlib.Path]) -> pathlib.Path:
    """Return the most recently written list of checkpoints of the runs.

    Raises:
        UserError: a run has none.
    """
    lists = [folder / "checkpoint" for folder in folders]
    for path in lists:
        if not path.exists():
            raise UserError(f"{path.parent} has no checkpoint yet")
    return max(lists, key=lambda path: path.stat().st_mtime)


def distinct_names(paths: Sequence[pathlib.Path]) -> list[str]:
    """Return the last parts of each path, as many as tell it apart from the others.

    Raises:
        UserError: a path is given twice.
    """
    parts = [path.resolve().parts for path in paths]
    if len({*parts}) < len(parts):
        raise UserError(f"{', '.join(map(str, paths))}: give each only once")
    names = []
    for own in parts:
        count = 1
        while sum(other[-count:] == own[-count:] for other in parts) > 1:
            count += 1
        names.append("/".join(own[-count:]))
    return names


def file_stem(name: str) -> str:
    """Return the file name prefix for this name."""
    return name.replace("/", "-").replace(" ", "-")


def problem_of(folders: Iterable[pathlib.Path]) -> str:
    """Return the problem of several runs.

    Raises:
        UserError: a folder holds no run, or the runs have different problems or none.
    """
    from t2t_phrase.runs.record import RunRecord

    found = {folder: RunRecord.load(folder).problem for folder in folders}
    if len({*found.values()}) > 1 or not all(found.values()):
        told = ", ".join(f"{problem or 'none'} of {folder}" for folder, problem in found.items())
        raise UserError(f"the runs need the same problem; these have {told}")
    return next(iter(found.values()))
