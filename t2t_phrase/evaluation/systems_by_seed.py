"""Systems that were trained with several seeds: mean scores, and tests against the first system."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase.evaluation.mean_text import mean_text
from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.significance import RESAMPLES, resampling_seed


@dataclasses.dataclass(frozen=True)
class SeededScore:
    """A score of one system.

    Attributes:
        by_seed: the score of each seed, in per cent.
        p_value: p-value of the difference between the means of this system and of the first, see
            `pooled_p_value`; None for the first itself.
    """

    by_seed: list[float]
    p_value: float | None

    def __str__(self) -> str:
        return mean_text(self.by_seed)


@dataclasses.dataclass(frozen=True)
class SystemsBySeed:
    """The scores of all systems.

    Attributes:
        systems: the scores by name of the system, then by name of the metric.
        signatures: sacreBLEU's signature of each metric.
    """

    systems: dict[str, dict[str, SeededScore]]
    signatures: dict[str, str]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table."""
        header = ["system", "seeds"]
        for metric in self.signatures:
            header += [metric, f"{metric} p"]
        rows = []
        for name, scores in self.systems.items():
            seeds = len(next(iter(scores.values())).by_seed)
            row = [name, str(seeds)]
            for score in scores.values():
                row += [str(score), p_text(score.p_value)]
            rows.append(row)
        return header, rows

    def notes(self) -> list[str]:
        """Return a line for each metric with its signature, and one about the test."""
        seed = resampling_seed() or "none"
        return [
            *(f"{metric}: {signature}" for metric, signature in self.signatures.items()),
            "mean ± standard deviation over the seeds; p of the difference between means, by "
            f"paired bootstrap with the seeds pooled (bs:{RESAMPLES}|seed:{seed})",
        ]


def compare_by_seed(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
) -> SystemsBySeed:
    """Score every seed of each system, and compare the means with those of the first system.

    Args:
        systems: by name, the translations of each seed; systems may have different seeds.
        references: see `corpus_score`.
        metrics: names, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: as for `corpus_score` and `resampling_seed`.

    Example:
        ```python
        from t2t_phrase.evaluation.systems_by_seed import compare_by_seed

        references = ["The old house is red.", "Two trees."]
        systems = {
            "baseline": [["A house is red.", "Two tree."], ["The house is red.", "Two tree."]],
            "ours": [["The old house is red.", "Two tree."], ["An old house is red.", "Trees."]],
        }
        found = compare_by_seed(systems, references, metrics=["chrf"])
        for name, scores in found.systems.items():
            print(name, scores["chrF2"].by_seed, scores["chrF2"].p_value)
        ```
    """
    options: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase}
    first = next(iter(systems))
    table: dict[str, dict[str, SeededScore]] = {name: {} for name in systems}
    signatures = {}
    for metric in metrics:
        for name, by_seed in systems.items():
            scores = [corpus_score(metric, lines, references, **options) for lines in by_seed]
            p_value = None
            if name != first:
                p_value = pooled_p_value(
                    by_seed, systems[first], references, metric=metric, **options
                )
            table[name][scores[0].name] = SeededScore([own.value for own in scores], p_value)
            signatures[scores[0].name] = scores[0].signature
    return SystemsBySeed(table, signatures)
