"""Results of probes, as a table and as JSON."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any, Literal

from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import SPLITS, ProbeCorpus

Setting = Literal["frozen", "scratch"]
SCRATCH = "from scratch"


@dataclasses.dataclass(frozen=True)
class Result:
    """One probe.

    Attributes:
        setting: "frozen" or "scratch".
        hparams_set: of the encoder.
        encoder: the run, as it was given, or SCRATCH.
        checkpoint: that the run's weights are from; "" from scratch.
        task: its name.
        seed: of the probe.
        accuracy: on the test split.
        dev_accuracy: on the development split.
        epoch: that was the best.
        steps: updates made.
    """

    setting: Setting
    hparams_set: str
    encoder: str
    checkpoint: str
    task: str
    seed: int
    accuracy: float
    dev_accuracy: float
    epoch: int
    steps: int

    def line(self, data: TaskData) -> str:
        """Return the result as a line."""
        return (
            f"{self.task}: {self.accuracy:.2%} of {data.size('test')} {data.task.unit}s (majority "
            f"{data.majority:.2%}), {self.hparams_set}, {self.encoder}, seed {self.seed}"
        )


def table(tasks: Sequence[TaskData], results: Sequence[Result]) -> str:
    """Return a Markdown table of accuracies in per cent: a row for each encoder.

    With several seeds a cell is the mean and, behind ±, the standard deviation.
    """
    head = ["hparams set", "encoder", *(data.task.name for data in tasks)]
    rows = [["majority", "", *(f"{100 * data.majority:.2f}" for data in tasks)]]
    for encoder in dict.fromkeys((result.hparams_set, result.encoder) for result in results):
        own = [result for result in results if (result.hparams_set, result.encoder) == encoder]
        cells = [
            _cell([100 * result.accuracy for result in own if result.task == data.task.name])
            for data in tasks
        ]
        rows.append([f"`{encoder[0]}`", encoder[1], *cells])
    rule = ["---", "---", *["---:"] * len(tasks)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def as_json(
    trees: str,
    corpus: ProbeCorpus,
    tasks: Sequence[TaskData],
    results: Sequence[Result],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return all that is known as JSON can hold it; accuracies are shares of 1.

    Args:
        trees: where the trees are from.
        corpus: the sentences.
        tasks: what was probed.
        results: of the probes done so far.
        options: of all probes.
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
                "majority": data.majority,
            }
            for data in tasks
        },
        "results": [dataclasses.asdict(result) for result in results],
    }


def _cell(values: list[float]) -> str:
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"
