"""The classes of a task, and the labels of all splits as numbers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import counted
from t2t_phrase.probing.corpus import SPLITS, ProbeCorpus, ProbeSentence, Split
from t2t_phrase.probing.tasks import Task

OTHER = "OTHER"
# The number of a missing label.
NONE = -1


@dataclasses.dataclass(frozen=True)
class TaskData:
    """A task with its labels.

    Attributes:
        task: the task.
        classes: the labels of the training split, the most frequent first.
        labels: for each sentence of a split, an int32 array of class numbers, a single one or one
            for each word. Labels that the training split lacks have the number `len(classes)`,
            which is never predicted.
        skipped: number of sentences or words without a label, in all splits.
    """

    task: Task
    classes: tuple[str, ...]
    labels: dict[Split, list[np.ndarray]]
    skipped: int

    def shares(self, split: Split) -> np.ndarray:
        """Return the share of each class among the labels of a split."""
        numbers = np.concatenate(self.labels[split])
        counts = np.bincount(numbers[numbers != NONE], minlength=len(self.classes) + 1)
        shares: np.ndarray = counts / counts.sum()
        return shares

    def size(self, split: Split) -> int:
        """Return the number of labels of a split."""
        return sum(int((numbers != NONE).sum()) for numbers in self.labels[split])

    def describe(self) -> str:
        """Return a line about the classes and the sentences or words left out."""
        task, shares = self.task, self.shares("train")
        shown = ", ".join(
            f"{name} {share:.1%}" for name, share in zip(self.classes[:5], shares, strict=False)
        )
        more = f" and {len(self.classes) - 5} more" if len(self.classes) > 5 else ""
        sizes = "/".join(str(self.size(split)) for split in SPLITS)
        line = f"{task.name}: {sizes} {task.unit}s, {len(self.classes)} classes: {shown}{more}"
        if self.skipped:
            line += f"; {counted(self.skipped, task.unit)} left out: {task.without}"
        return line


def task_data(task: Task, corpus: ProbeCorpus, *, tss_classes: int = 0) -> TaskData:
    """Return the classes of a task and the labels of a corpus.

    Args:
        task: the task.
        corpus: a corpus labelled for the task.
        tss_classes: maximum number of classes of the task "tss": the most frequent sequences of the
            training split, and OTHER; 0: every sequence is a class.

    Raises:
        UserError: a split has no label, or the training split has only one distinct label.
    """
    counts = Counter(
        label
        for sentence in corpus.splits["train"]
        for label in _labels(sentence, task)
        if label is not None
    )
    for split in SPLITS:
        if not any(label for of in corpus.splits[split] for label in _labels(of, task)):
            sentences = counted(len(corpus.splits[split]), "sentence")
            raise UserError(
                f"--tasks={task.name}: the {split} split of {sentences} has no label "
                f"({task.without}); give more sentences, or leave {task.name} out"
            )
    if len(counts) == 1:
        (only,) = counts
        raise UserError(
            f"--tasks={task.name}: every {task.unit} of the training split is {only}, so "
            f"there is nothing to tell apart; use other trees, or leave {task.name} out"
        )
    # Ties are in alphabetical order, so that the order of the lines does not matter.
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    numbers = {label: number for number, label in enumerate(ranked)}
    if task.name == "tss" and tss_classes and len(ranked) > tss_classes:
        kept = ranked[: tss_classes - 1]
        # OTHER is ordered by frequency like any class, since the first one is the majority.
        rest = sum(counts[label] for label in ranked[tss_classes - 1 :])
        ranked = sorted([*kept, OTHER], key=lambda label: -counts.get(label, rest))
        numbers = {label: ranked.index(label if label in kept else OTHER) for label in counts}
    unknown = ranked.index(OTHER) if OTHER in ranked else len(ranked)

    def number(label: str | None) -> int:
        return NONE if label is None else numbers.get(label, unknown)

    labels = {
        split: [
            np.array([number(label) for label in _labels(sentence, task)], "int32")
            for sentence in corpus.splits[split]
        ]
        for split in SPLITS
    }
    skipped = sum(int((of == NONE).sum()) for split in SPLITS for of in labels[split])
    return TaskData(task, tuple(ranked), labels, skipped)


def _labels(sentence: ProbeSentence, task: Task) -> Iterator[str | None] | Sequence[str | None]:
    labels = sentence.labels[task.name]
    return labels if isinstance(labels, tuple) else (labels,)
