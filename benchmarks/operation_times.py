"""The time that a call spends in each kind of TensorFlow operation."""

from __future__ import annotations

import collections
import pathlib
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

_OPERATION = re.compile(r"[^:]+:_?[A-Z]\w*")


class Kind(NamedTuple):
    """All operations of one kind."""

    name: str
    runs: int
    seconds: float


def profile(run: Callable[[], object]) -> list[Kind]:
    """Return the time that one call of `run` spends in each TensorFlow operation, longest first."""
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    run()
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        run()
        tf.profiler.experimental.stop()
        (path,) = pathlib.Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(path.read_bytes())
    threads = []
    for plane in space.planes:
        if plane.name == "/host:CPU":
            names = {key: value.name for key, value in plane.event_metadata.items()}
            threads += [
                [
                    Event(names[event.metadata_id], event.offset_ps, event.duration_ps)
                    for event in line.events
                ]
                for line in plane.lines
            ]
    return kinds_of(threads)


class Event(NamedTuple):
    """An event of a thread; times are in picoseconds."""

    name: str
    start: int
    duration: int


def kinds_of(threads: Sequence[Sequence[Event]]) -> list[Kind]:
    """Return the time spent in operations, without nested operations.

    Args:
        threads: the events of each thread; those of operations are named NODE:KIND.
    """
    runs: collections.Counter[str] = collections.Counter()
    spent: collections.Counter[str] = collections.Counter()
    for events in threads:
        open_events: list[tuple[int, str]] = []
        operations = (event for event in events if _OPERATION.fullmatch(event.name))
        for event in sorted(operations, key=lambda event: (event.start, -event.duration)):
            kind = event.name.rpartition(":")[2]
            while open_events and open_events[-1][0] <= event.start:
                open_events.pop()
            if open_events:
                spent[open_events[-1][1]] -= event.duration
            open_events.append((event.start + event.duration, kind))
            runs[kind] += 1
            spent[kind] += event.duration
    return [Kind(name, runs[name], time / 1e12) for name, time in spent.most_common()]
