"""Tasks, each a share of the training shards for one machine to make, and their records.

Task k of N makes the shards k, k + N, k + 2 N, ... of the training set. Its record lies in the data
folder, beside its shards, so that both can be copied to the folder in which the data are completed.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

from t2t_phrase.config import UserError, differences
from t2t_phrase.data.generation.manifest import CHECKSUMS, SHARD, VOCABULARY
from t2t_phrase.data.generation.shapes import Nullable, Object, parse, require
from t2t_phrase.data.sources.inputs import Inputs, changes
from t2t_phrase.io.files import write

_FORMAT = 1
_SHAPE = Object(
    {
        "format": int,
        "task": int,
        "tasks": int,
        "options": Object(others=object),
        "inputs": CHECKSUMS,
        "parts": Object(others=[[str]]),
        "versions": CHECKSUMS,
        "vocabulary": [VOCABULARY],
        "staged": Nullable(Object({"pairs": int, "faults": Object(others=int), "work": CHECKSUMS})),
        "shards": Object(others=Object(others=SHARD)),
        "complete": bool,
    }
)


@dataclasses.dataclass(frozen=True)
class Task:
    """A share of the work.

    Args:
        index: number of the task, from 0.
        count: number of all tasks.

    Raises:
        UserError: there is no such task.
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not self.count:
            raise UserError(f"--task_id={self.index}: also give --num_tasks, the number of tasks")
        if not 0 <= self.index < self.count:
            raise UserError(
                f"--task_id={self.index} --num_tasks={self.count}: N tasks are numbered 0 to N - 1"
            )

    def __str__(self) -> str:
        return f"task {self.index} of {self.count}"

    def shards(self, count: int) -> range:
        """Return the numbers of the task's training shards.

        Raises:
            UserError: there are fewer shards than tasks.
        """
        if self.count > count:
            raise UserError(
                f"--num_tasks={self.count}: there are only {count} training shards; use at most "
                "that many tasks, or raise --num_shards"
            )
        return range(self.index, count, self.count)

    def record_path(self, folder: pathlib.Path, base_name: str) -> pathlib.Path:
        """Return the path of the task's record."""
        return folder / f"{base_name}-task-{self.index:05d}-of-{self.count:05d}.json"

    def lock_path(self, folder: pathlib.Path, base_name: str) -> pathlib.Path:
        """Return the path of the lock file that the task's process holds."""
        return folder / f".{base_name}-task-{self.index:05d}-of-{self.count:05d}-lock"


@dataclasses.dataclass
class TaskRecord:
    """The record of a task; saved after every shard.

    Attributes:
        task: number of the task.
        tasks: the number of all tasks.
        options, inputs, parts, versions, vocabulary: as in a `Manifest`.
        staged: `pairs`, `faults` and `work`, the SHA-256 of the files, of the text that the task
            staged itself; None: it used the text that was staged for all tasks.
        shards: for each split that is made from the training set, the entries of the finished
            shards, by their numbers in decimal.
        complete: whether the task has nothing left to do.
    """

    task: int
    tasks: int
    options: dict[str, Any]
    inputs: dict[str, str]
    parts: dict[str, list[list[str]]]
    versions: dict[str, str]
    vocabulary: list[dict[str, Any]]
    staged: dict[str, Any] | None = None
    shards: dict[str, dict[str, dict[str, Any]]] = dataclasses.field(default_factory=dict)
    complete: bool = False

    @property
    def of(self) -> Task:
        """The task."""
        return Task(self.task, self.tasks)

    def entries(self) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Yield the split, number and entry of each finished shard."""
        for split, shards in self.shards.items():
            for number, entry in shards.items():
                yield split, int(number), entry

    def differs_from(self, other: TaskRecord) -> str:
        """Return the differences that prevent a merge with another task; "" if there are none."""
        found = differences(self.options, other.options)
        if not found:
            inputs = [Inputs(record.inputs, record.parts) for record in (self, other)]
            found = [f"raw files {change}" for change in changes(*inputs)]
        if not found and [e["sha256"] for e in self.vocabulary] != [
            e["sha256"] for e in other.vocabulary
        ]:
            found = ["different vocabulary"]
        names = ("sentencepiece", "t2t_phrase")
        if not found:
            versions = [{n: record.versions.get(n) for n in names} for record in (self, other)]
            found = differences(*versions)
        return "; ".join(found)

    def save(self, folder: pathlib.Path, base_name: str) -> None:
        """Write the record atomically."""
        content = {"format": _FORMAT, **dataclasses.asdict(self)}
        write(self.of.record_path(folder, base_name), json.dumps(content, indent=2) + "\n")


def load_records(folder: pathlib.Path, base_name: str) -> list[TaskRecord]:
    """Return the records of all tasks in a folder, which must agree on the number of tasks.

    Raises:
        UserError: a record cannot be read, or the records disagree on the number of tasks.
    """
    pattern = re.compile(rf"{re.escape(base_name)}-task-(\d+)-of-(\d+)\.json")
    matches = [m for m in (pattern.fullmatch(p.name) for p in folder.iterdir()) if m]
    records = [_load(folder / name[0]) for name in sorted(matches, key=lambda name: name[0])]
    counts = sorted({record.tasks for record in records})
    if len(counts) > 1:
        raise UserError(
            f"{folder} has tasks of --num_tasks={counts[0]} and of --num_tasks={counts[1]}; delete "
            f"{base_name}-task-*-of-{counts[0]:05d}.json there, or those of the other"
        )
    return records


def _load(path: pathlib.Path) -> TaskRecord:
    try:
        content = parse(path.read_bytes())
        require(content, _SHAPE)
        if content.pop("format") != _FORMAT:
            raise ValueError("unknown format version")
        record = TaskRecord(**content)
        for split, number, entry in record.entries():
            if not entry["file"].endswith(f"-{split}-{number:05d}-of-{_count(record):05d}"):
                raise ValueError(f"{entry['file']!r} is not shard {number} of {split}")
        if record.of.record_path(path.parent, path.name.partition("-task-")[0]) != path:
            raise ValueError("it belongs to a different task from the one in its name")
        return record
    except (OSError, LookupError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"{path} cannot be read as the record of a task ({reason}); delete it and run the "
            "task again"
        ) from error


def _count(record: TaskRecord) -> int:
    return int(record.options["num_shards"])
