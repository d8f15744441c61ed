"""The table of t2t-phrase-compare: a row for each hparams set, compared with the first."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence

from t2t_phrase.evaluation.mean_text import mean_text
from t2t_phrase.evaluation.p_text import p_text


@dataclasses.dataclass(frozen=True)
class Run:
    """One trained model: a set and a seed.

    Attributes:
        parameters: number of weights.
        scores: scores on the test set by the name of the metric, all runs in the same order.
    """

    name: str
    seed: int
    parameters: int
    scores: Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Scores:
    """The scores of a set by one metric.

    Attributes:
        by_seed: score for each seed.
        difference: mean difference from the baseline over the seeds that both have; None without
            any, and for the baseline itself.
        p_value: p-value of this difference; None if there is none.
    """

    by_seed: dict[int, float]
    difference: float | None = None
    p_value: float | None = None

    @property
    def mean(self) -> float:
        """Mean score over the seeds."""
        return statistics.mean(self.by_seed.values())

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None for a single seed."""
        return statistics.stdev(self.by_seed.values()) if len(self.by_seed) > 1 else None

    def __str__(self) -> str:
        return mean_text(self.by_seed.values())


@dataclasses.dataclass(frozen=True)
class Row:
    """All finished runs of a set.

    Attributes:
        scores: by the name of the metric.
    """

    name: str
    parameters: int
    scores: dict[str, Scores]


def rows(
    runs: Sequence[Run],
    baseline: str,
    p_value: Callable[[str, str, list[int]], float | None],
) -> list[Row]:
    """Group the runs by set, in the order of the sets.

    Args:
        runs: the finished runs.
        baseline: the set with which the others are compared.
        p_value: the p-value of a set, given the metric, the set and the seeds that it shares with
            the baseline.
    """
    found = {(run.name, run.seed): run for run in runs}
    made = []
    for name in dict.fromkeys(run.name for run in runs):
        own = [run for run in runs if run.name == name]
        shared = [run.seed for run in own if (baseline, run.seed) in found]
        scores = {}
        for metric in own[0].scores:
            by_seed = {run.seed: run.scores[metric] for run in own}
            if name == baseline or not shared:
                scores[metric] = Scores(by_seed)
                continue
            theirs = {seed: found[baseline, seed].scores[metric] for seed in shared}
            difference = statistics.mean(by_seed[seed] - theirs[seed] for seed in shared)
            scores[metric] = Scores(by_seed, difference, p_value(metric, name, shared))
        made.append(Row(name, own[0].parameters, scores))
    return made


def markdown(table: Sequence[Row], extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Return the table in Markdown.

    Args:
        table: its rows; the first metric is shown for each seed, too.
        extra: content of further columns, by title, then by set.
    """
    extra = extra or {}
    main, *others = table[0].scores
    several = any(len(row.scores[main].by_seed) > 1 for row in table)
    titles = ["set", "parameters", main, *(["by seed"] if several else []), "difference", "p"]
    for metric in others:
        titles += [metric, f"p ({metric})"]
    lines = [[*titles, *extra]]
    for row in table:
        first = row.scores[main]
        cells = [f"`{row.name}`", f"{row.parameters / 1e6:.2f}M", str(first)]
        if several:
            cells.append(", ".join(f"{value:.2f}" for value in first.by_seed.values()))
        cells.append("" if first.difference is None else f"{first.difference:+.2f}")
        cells.append(_p_text(first.p_value))
        for metric in others:
            cells += [str(row.scores[metric]), _p_text(row.scores[metric].p_value)]
        cells += [column.get(row.name, "") for column in extra.values()]
        lines.append(cells)
    return grid(lines)


def _p_text(value: float | None) -> str:
    return "" if value is None else p_text(value, places=3)


def grid(lines: Sequence[Sequence[str]]) -> str:
    """Return rows of cells, the first as head, as a Markdown table with right-aligned numbers."""
    head, *body = lines
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *body))


def as_json(table: Sequence[Row]) -> list[dict[str, object]]:
    """Return the rows in JSON-serializable form."""
    return [
        {
            "set": row.name,
            "parameters": row.parameters,
            "scores": {
                metric: {
                    "mean": scores.mean,
                    "spread": scores.spread,
                    "by_seed": scores.by_seed,
                    "difference": scores.difference,
                    "p": scores.p_value,
                }
                for metric, scores in row.scores.items()
            },
        }
        for row in table
    ]
