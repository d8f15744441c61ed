"""Scalars for TensorBoard."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable, Sequence

from t2t_phrase.io.files import reason_of
from t2t_phrase.runs.event_file import EventFile
from t2t_phrase.training.trackers import Tracker


class Summaries:
    """Writes scalars for TensorBoard; a full disk stops this, but not the training.

    Args:
        folder: `--output_dir`; scalars of evaluations go to its subfolder `eval`, as in
            tensor2tensor.
        writes: whether this process writes files.
        log: called with a warning if scalars cannot be written.
        trackers: receive the same scalars, as "train/loss" and so on.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        writes: bool,
        log: Callable[[str], None],
        trackers: Sequence[Tracker] = (),
    ) -> None:
        self._trackers = list(trackers) if writes else []
        self._folders = {"train": str(folder), "eval": str(pathlib.Path(folder) / "eval")}
        self._writers: dict[str, EventFile] = {}
        self._writes, self._log = writes, log

    def write(self, kind: str, step: int, values: dict[str, float]) -> None:
        """Write scalars.

        Args:
            kind: "train" or "eval".
            step: number of updates made.
            values: the scalars by name.
        """
        self._track(step, {f"{kind}/{name}": value for name, value in values.items()})
        if not self._writes:
            return
        try:
            if kind not in self._writers:
                self._writers[kind] = EventFile(self._folders[kind])
            self._writers[kind].write(step, values)
        except OSError as error:
            self._writes = False
            self._log(f"WARNING: no more TensorBoard scalars will be written: {reason_of(error)}")

    def _track(self, step: int, values: dict[str, float]) -> None:
        for tracker in list(self._trackers):
            self._guard(tracker, functools.partial(tracker.write, step, values))

    def _guard(self, tracker: Tracker, call: Callable[[], None]) -> None:
        """Call a service; whatever it does, training continues, without it if it fails."""
        try:
            call()
        except Exception as error:
            self._trackers.remove(tracker)
            name = type(tracker).__name__.strip("_")
            self._log(f"WARNING: {name} receives no more scalars: {error}")

    def close(self) -> None:
        """Close the files, and end the runs of trackers."""
        for tracker in list(self._trackers):
            self._guard(tracker, tracker.close)
        for writer in self._writers.values():
            if self._writes:
                writer.close()
