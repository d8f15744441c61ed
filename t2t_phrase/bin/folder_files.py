"""The files in the folders of runs and data, which no output of a command may overwrite."""

from __future__ import annotations

import fnmatch
import pathlib
from collections.abc import Iterator

from t2t_phrase.io.files import expanded
from t2t_phrase.runs import commands, history, log, record, translations

# Names of the files that commands read from runs and data.
_READ = (
    *("checkpoint", "*.ckpt-*", "vocab.*", "events.*", "*-manifest.json", "*-of-[0-9]*"),
    *("*-train.*", "*-dev.*", "*-test.*"),
    *(module.FILE for module in (commands, history, log, record, translations)),
)


def files_of(*folders: str) -> Iterator[str]:
    """Yield the files in folders and their subfolders, except pages, which are never read."""
    for folder in folders:
        for pattern in ("*", "*/*"):
            for path in expanded(folder).glob(pattern):
                if path.suffix != ".html":
                    yield str(path)


def read_files_of(*folders: str) -> Iterator[str]:
    """Yield only those of `files_of` that commands read, not, for example, earlier statistics."""
    for path in files_of(*folders):
        if any(fnmatch.fnmatch(pathlib.Path(path).name, pattern) for pattern in _READ):
            yield path
