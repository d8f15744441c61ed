"""Folders that users name."""

from __future__ import annotations

import os
import pathlib


def expanded(path: str | os.PathLike[str]) -> pathlib.Path:
    """Return a path with `~` replaced by the home folder, where there is one."""
    # pathlib's own method raises an error for a user that does not exist.
    return pathlib.Path(os.path.expanduser(path))
