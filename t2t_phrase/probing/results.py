"""Results of probes, as tables and as JSON."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from t2t_phrase.evaluation.mcnemar import mcnemar
from t2t_phrase.probing.baselines import UNTRAINED
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import SPLITS, ProbeCorpus
from t2t_phrase.probing.measures import labels_of, measure

Setting = Literal["frozen", "scratch", "baseline"]
SCRATCH = "from scratch"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """One probe, or one baseline.

    Attributes:
        setting: "frozen", "scratch" or "baseline".
        hparams_set: hparams set of the encoder; the name of a baseline without an encoder.
        encoder: the run, as it was given, SCRATCH, UNTRAINED or "".
        checkpoint: checkpoint of the run's weights; "" without one.
        supervised: whether the encoder was trained to predict labels of constituents.
        task: name of the task.
        seed: seed of the probe.
        accuracy, macro_f1, standard_error: on the test split, see `measures.Measures`.
        dev_accuracy: accuracy on the development split.
        hidden_units, learning_rate: chosen on the development split.
        epoch: the best epoch.
        steps: number of updates.
        right: bool, for each label of the test split, whether it is predicted correctly.
    """

    setting: Setting
    hparams_set: str
    encoder: str = ""
    checkpoint: str = ""
    supervised: bool = False
    task: str
    seed: int = 0
    accuracy: float
    macro_f1: float
    standard_error: float
    dev_accuracy: float | None = None
    hidden_units: int = 0
    learning_rate: float = 0.0
    epoch: int = 0
    steps: int = 0
    right: np.ndarray = dataclasses.field(repr=False, compare=False)

    def line(self, data: TaskData) -> str:
        """Return the result as a line."""
        parts = [self.hparams_set, self.encoder]
        if self.setting != "baseline" or self.encoder == UNTRAINED:
            parts.append(
                f"seed {self.seed}, {self.hidden_units} units, learning rate {self.learning_rate:g}"
            )
        return (
            f"{self.task}: {self.accuracy:.2%}, macro-F1 {self.macro_f1:.2%}, of "
            f"{data.size('test')} {data.task.unit}s, {', '.join(filter(None, parts))}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the fields that JSON can hold."""
        return {name: value for name, value in vars(self).items() if name != "right"}


def make_result(data: TaskData, predicted: Sequence[np.ndarray], **fields: Any) -> Result:
    """Return the result of predictions for the test split.

    Args:
        data: the task.
        predicted: for each sentence, the predicted class of each label that is not NONE.
        **fields: the other fields of `Result`.
    """
    labels = data.labels["test"]
    found = measure(predicted, labels)
    right = np.concatenate(predicted) == np.concatenate(labels_of(labels))
    return Result(task=data.task.name, right=right, **found._asdict(), **fields)


@dataclasses.dataclass(frozen=True)
class Row:
    """The results of an encoder, or of all encoders of one hparams set, by task.

    Attributes:
        title: title of the hparams set or baseline.
        encoder: description of the encoder or encoders.
        setting: "frozen", "scratch" or "baseline".
        results: the results by name of the task, in the order of runs and seeds.
    """

    title: str
    encoder: str
    setting: Setting
    results: dict[str, list[Result]]


def rows(results: Sequence[Result], *, pool_runs: bool = False) -> list[Row]:
    """Return the rows of the tables, in the order in which encoders first occur.

    Args:
        results: of all probes and baselines.
        pool_runs: whether runs of one hparams set share a row.
    """
    groups: dict[tuple[Setting, str, str], list[Result]] = {}
    for result in results:
        pooled = pool_runs and result.setting == "frozen"
        key = (result.setting, result.hparams_set, "" if pooled else result.encoder)
        groups.setdefault(key, []).append(result)
    found = []
    for (setting, name, encoder), own in groups.items():
        title = name if setting == "baseline" and not own[0].encoder else f"`{name}`"
        if own[0].supervised:
            title += " (trained on labels)"
        runs = dict.fromkeys(result.encoder for result in own)
        if pool_runs and setting == "frozen":
            encoder = f"{len(runs)} runs" if len(runs) > 1 else next(iter(runs))
        tasks: dict[str, list[Result]] = {}
        for result in own:
            tasks.setdefault(result.task, []).append(result)
        found.append(Row(title, encoder, setting, tasks))
    return found


def tables(tasks: Sequence[TaskData], results: Sequence[Result], *, pool_runs: bool = False) -> str:
    """Return Markdown tables of accuracy, macro-F1 and p-values: a row for each encoder.

    Accuracy is mean ± standard error, in per cent. The p-values are from McNemar's test against the
    first encoder that is not a baseline, over the labels of all runs and seeds together.

    Args:
        tasks: the columns.
        results: of all probes and baselines.
        pool_runs: see `rows`.
    """
    made = rows(results, pool_runs=pool_runs)
    encoders = [row for row in made if row.setting != "baseline"]
    found = [
        _table("accuracy", tasks, made, _accuracy),
        _table("macro-F1", tasks, made, lambda own: f"{_mean(own, 'macro_f1'):.2f}"),
    ]
    if len(encoders) > 1:
        first = encoders[0]
        title = f"p against {first.title}, {first.encoder}"
        compared = [row for row in made if row is not first]
        found.append(
            _table(title, tasks, compared, lambda own: _p_value(first.results[own[0].task], own))
        )
    return "\n\n".join(found)


def standard_error(results: Sequence[Result]) -> float:
    """Return the standard error of the mean accuracy of runs and seeds.

    It has two parts: the sentences of the test split, which all results share, and the spread of
    runs and seeds, which falls with their number.
    """
    sentences = statistics.mean(result.standard_error**2 for result in results)
    values = [result.accuracy for result in results]
    spread = statistics.variance(values) / len(values) if len(values) > 1 else 0.0
    return float((sentences + spread) ** 0.5)


def as_json(
    trees: str,
    corpus: ProbeCorpus,
    tasks: Sequence[TaskData],
    results: Sequence[Result],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return everything known in JSON-serializable form; accuracies are between 0 and 1.

    Args:
        trees: source of the trees.
        corpus: the sentences.
        tasks: the probed tasks.
        results: results of the probes done so far.
        options: options of all probes.
    """
    return {
        "trees": trees,
        "sentences": {split: len(corpus.splits[split]) for split in SPLITS},
        "left_out": corpus.left_out,
        "options": options,
        "tasks": {
            data.task.name: {
                "unit": data.task.unit,
                "labels": {split: data.size(split) for split in SPLITS},
                "left_out": data.skipped,
                "classes": dict(zip(data.classes, map(float, data.shares("train")), strict=False)),
            }
            for data in tasks
        },
        "results": [result.as_json() for result in results],
    }


def _table(
    title: str,
    tasks: Sequence[TaskData],
    shown: Sequence[Row],
    cell: Callable[[Sequence[Result]], str],
) -> str:
    names = [data.task.name for data in tasks]
    lines = [[title, "encoder", *names], ["---", "---", *["---:"] * len(names)]]
    for row in shown:
        own = [row.results.get(name, []) for name in names]
        lines.append([row.title, row.encoder, *(cell(found) if found else "" for found in own)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _accuracy(results: Sequence[Result]) -> str:
    return f"{_mean(results, 'accuracy'):.2f} ± {100 * standard_error(results):.2f}"


def _mean(results: Sequence[Result], field: str) -> float:
    return 100 * statistics.mean(getattr(result, field) for result in results)


def _p_value(first: Sequence[Result], second: Sequence[Result]) -> str:
    # A baseline, which has no seeds, is compared with each seed of the other.
    count = max(len(first), len(second))
    if any(len(own) not in (1, count) for own in (first, second)):
        return ""
    ours, theirs = (
        np.concatenate([own[i % len(own)].right for i in range(count)]) for own in (first, second)
    )
    p = mcnemar(int(np.sum(ours & ~theirs)), int(np.sum(theirs & ~ours)))
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
