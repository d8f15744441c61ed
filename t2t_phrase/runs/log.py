"""The log file of a run."""

from __future__ import annotations

import pathlib
import threading
import time
from collections.abc import Callable

from t2t_phrase.io.reporting import progress, refresh
from t2t_phrase.runs.record import FILE as RECORD_FILE

FILE = "train.log"


class RunLog:
    """Passes lines on and appends them, with the time, to `train.log` in the folder of a run.

    Lines are kept in memory until the folder holds a run, so that a mistake leaves no file behind.
    A line that cannot be written, because the disk is full or the folder is gone, is only passed
    on; the first time, with a warning.

    Args:
        folder: folder of the run.
        log: called with each line.
    """

    def __init__(self, folder: pathlib.Path, log: Callable[[str], None]) -> None:
        self._path = folder / FILE
        self._log = log
        self._failed = False
        self._lock = threading.Lock()
        self._waiting: list[str] = []

    def __call__(self, text: str) -> None:
        """Log one line, or several."""
        self._log(text)
        self._keep(text)

    def progress(self, text: str) -> None:
        """Log a line of progress, see `reporting.progress`."""
        progress(self._log, text)
        self._keep(text)

    def refresh(self, make: Callable[[], str]) -> None:
        """Show a line of progress that is not kept, see `reporting.refresh`."""
        refresh(self._log, make)

    def _keep(self, text: str) -> None:
        # The thread that reads ahead has lines, too.
        with self._lock:
            self._append(text)

    def _append(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        self._waiting += [f"{stamp}  {line}\n" for line in text.splitlines()]
        if not (self._path.parent / RECORD_FILE).exists():
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(self._waiting)
        except OSError as error:
            if not self._failed:
                self._log(f"WARNING: cannot write {self._path}: {error.strerror or error}")
            self._failed = True
        self._waiting.clear()
