"""The probing tasks by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

from t2t_phrase.config import UserError, nearest, shown
from t2t_phrase.probing import labels
from t2t_phrase.probing.treebank import Parse

# A sentence's label, or one for each of its words; None where the task's rule does not apply.
Labels = str | None | tuple[str | None, ...]


@dataclasses.dataclass(frozen=True)
class Task:
    """A kind of label to predict.

    Attributes:
        name: its name in flags and tables.
        unit: the unit that has a label.
        label: the rule.
        without: description of units without a label, for messages.
    """

    name: str
    unit: Literal["sentence", "word"]
    label: Callable[[Parse], Labels]
    without: str


TASKS = {
    task.name: task
    for task in (
        Task("voice", "sentence", labels.voice, "no verb in a main clause"),
        Task("tense", "sentence", labels.tense, "no finite verb in the main clause"),
        Task("tss", "sentence", labels.tss, "no single constituent at the top"),
        Task("spc", "word", labels.spc, "no constituent above them"),
        Task("pos", "word", labels.pos, "no part of speech"),
    )
}


def choose_tasks(names: Sequence[str]) -> list[Task]:
    """Return the tasks with these names.

    Raises:
        UserError: a task is unknown or given twice, or none is given.
    """
    known = ", ".join(TASKS)
    if not names:
        raise UserError(f"--tasks= names no task; known: {known}")
    for name in names:
        if name not in TASKS:
            raise UserError(
                f"--tasks: {shown(name)} is unknown{nearest(name, TASKS) or f'; known: {known}'}"
            )
        if names.count(name) > 1:
            raise UserError(f"--tasks: {name} is given twice")
    return [TASKS[name] for name in names]
