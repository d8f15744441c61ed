"""Removes files that killed processes left in the folder of a run."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil

from t2t_phrase.runs import checkpoints

_NAMES = rf"{re.escape(checkpoints.PREFIX)}-\d+(\.index|\.data-\d+-of-\d+)?"
_TEMPORARY = re.compile(
    rf"\.?({_NAMES}|checkpoint|(hparams|evaluations|commands|best_translations)\.json"
    r"|vocab\.(joint|source|target|t2t\.subwords|t2t\.targets\.subwords))(\.[^.]+)?\.tmp"
)
_DATA = re.compile(rf"({re.escape(checkpoints.PREFIX)}-\d+)\.data-\d+-of-\d+")


def remove_leftovers(folder: str | os.PathLike[str]) -> list[str]:
    """Delete temporary files, and data of checkpoints without an index, which nothing can read.

    Only names that this library gives are touched. The caller holds the lock of the folder, so no
    other process is writing there.

    Returns:
        The names of the deleted files and folders.
    """
    place = pathlib.Path(folder)
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    gone = []
    for name in names:
        data = _DATA.fullmatch(name)
        if not _TEMPORARY.fullmatch(name) and (data is None or f"{data[1]}.index" in names):
            continue
        path = place / name
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            gone.append(name)
    return gone
