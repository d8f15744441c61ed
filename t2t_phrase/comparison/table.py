"""The table of t2t-phrase-compare: a row for each hparams set, compared with the first."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Run:
    """One trained model: a set and a seed.

    Attributes:
        parameters: number of weights.
        bleu: BLEU on the test set.
        p_value: p-value of the difference from the baseline of the same seed; None for the baseline
            itself, and if the baseline is not finished.
    """

    name: str
    seed: int
    parameters: int
    bleu: float
    p_value: float | None


@dataclasses.dataclass(frozen=True)
class Row:
    """All finished runs of a set.

    Attributes:
        bleu: BLEU for each seed.
        p_values: p-value for each seed that has one.
        difference: mean difference from the baseline over the seeds that both have; None without
            any.
    """

    name: str
    parameters: int
    bleu: dict[int, float]
    p_values: dict[int, float]
    difference: float | None

    @property
    def mean(self) -> float:
        """Mean BLEU over the seeds."""
        return statistics.mean(self.bleu.values())

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None for a single seed."""
        return statistics.stdev(self.bleu.values()) if len(self.bleu) > 1 else None


def rows(runs: Sequence[Run], baseline: str) -> list[Row]:
    """Group the runs by set, in the order of the sets."""
    made = []
    reference = {run.seed: run.bleu for run in runs if run.name == baseline}
    for name in dict.fromkeys(run.name for run in runs):
        own = [run for run in runs if run.name == name]
        bleu = {run.seed: run.bleu for run in own}
        shared = [seed for seed in bleu if seed in reference and name != baseline]
        made.append(
            Row(
                name=name,
                parameters=own[0].parameters,
                bleu=bleu,
                p_values={run.seed: run.p_value for run in own if run.p_value is not None},
                difference=statistics.mean(bleu[seed] - reference[seed] for seed in shared)
                if shared
                else None,
            )
        )
    return made


def markdown(table: Sequence[Row], extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Return the table in Markdown.

    Args:
        table: its rows.
        extra: content of further columns, by title, then by set.
    """
    extra = extra or {}
    several = any(len(row.bleu) > 1 for row in table)
    titles = ["set", "parameters", "BLEU", *(["spread", "by seed"] if several else [])]
    titles += ["difference", "p", *extra]
    lines = [titles]
    for row in table:
        cells = [f"`{row.name}`", f"{row.parameters / 1e6:.2f}M", f"{row.mean:.2f}"]
        if several:
            cells.append("" if row.spread is None else f"{row.spread:.2f}")
            cells.append(", ".join(f"{value:.2f}" for value in row.bleu.values()))
        cells.append("" if row.difference is None else f"{row.difference:+.2f}")
        cells.append(", ".join(f"{value:.3f}" for value in row.p_values.values()))
        cells += [column.get(row.name, "") for column in extra.values()]
        lines.append(cells)
    return grid(lines)


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
            "bleu": row.mean,
            "spread": row.spread,
            "bleu_by_seed": row.bleu,
            "difference": row.difference,
            "p_by_seed": row.p_values,
        }
        for row in table
    ]
