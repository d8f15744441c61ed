"""The scalars that a run wrote for TensorBoard."""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

PATTERN = "*tfevents*"


class Point(NamedTuple):
    """A value at a step.

    Attributes:
        step: number of updates.
        time: when it was written, in seconds since 1970.
        value: the scalar.
    """

    step: int
    time: float
    value: float


Scalars = dict[str, list[Point]]


def read_scalars(folder: str | os.PathLike[str]) -> Scalars:
    """Return the scalars of all event files of a folder, by name, in the order of the steps.

    Where a run was resumed from an earlier step, the value that was written last counts. A file
    that is damaged or still being written is read as far as it is intact.

    Args:
        folder: `--output_dir`; its subfolders are not read.
    """
    # Loads TensorFlow if it is installed.
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    found: dict[str, dict[int, Point]] = {}
    for path in sorted(pathlib.Path(folder).glob(PATTERN)):
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                number = tensor_util.make_ndarray(value.tensor)
                if number.size != 1 or number.dtype.kind in "OSU":
                    continue  # A text, an image or a histogram of the user's own.
                point = Point(event.step, event.wall_time, float(number))
                own = found.setdefault(value.tag, {})
                if point.step not in own or own[point.step].time <= point.time:
                    own[point.step] = point
    return {tag: [points[step] for step in sorted(points)] for tag, points in found.items()}


def seconds_of_updates(scalars: Scalars) -> float:
    """Return the time that the updates took, without evaluations, saving and interruptions.

    Args:
        scalars: with "steps_per_second", the mean since the previous report.
    """
    return sum(seconds for seconds, _ in _durations(scalars, "steps_per_second"))


def mean_tokens_per_second(scalars: Scalars) -> float | None:
    """Return the mean of "tokens_per_second" over the time of the updates; None if unknown."""
    durations = _durations(scalars, "tokens_per_second")
    total = sum(seconds for seconds, _ in durations)
    return sum(seconds * value for seconds, value in durations) / total if total else None


def _durations(scalars: Scalars, tag: str) -> list[tuple[float, float]]:
    """Return (seconds, value of the tag) for each report that has both."""
    values = {point.step: point.value for point in scalars.get(tag, [])}
    found, before = [], 0
    for step, _, speed in scalars.get("steps_per_second", []):
        if speed > 0 and step in values:
            found.append(((step - before) / speed, values[step]))
        before = step
    return found
