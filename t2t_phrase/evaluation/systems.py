"""Several systems on one test set: scores, confidence intervals, and tests against the first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase.evaluation.approximate_randomisation import randomised
from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.significance import RESAMPLES, p_value, resampled


@dataclasses.dataclass(frozen=True)
class SystemScore:
    """A score of one system.

    Attributes:
        value: the score, in per cent.
        mean, interval: mean of the scores of resampled test sets; 95% of the scores are within
            mean +- interval.
        p_value: p-value of the difference from the first system, by paired bootstrap; None for the
            first itself.
        p_randomised: the same by approximate randomisation; None if it was not computed.
    """

    value: float
    mean: float
    interval: float
    p_value: float | None
    p_randomised: float | None = None


@dataclasses.dataclass(frozen=True)
class SystemScores:
    """The scores of all systems.

    Attributes:
        systems: the scores by name of the system, then by name of the metric.
        signatures: sacreBLEU's signature of each metric and of the paired bootstrap.
        randomised: the same for approximate randomisation; {} if it was not computed.
    """

    systems: dict[str, dict[str, SystemScore]]
    signatures: dict[str, str]
    randomised: dict[str, str] = dataclasses.field(default_factory=dict)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table."""
        header = ["system"]
        for metric in self.signatures:
            header += [metric, f"{metric} 95%", f"{metric} p"]
            header += [f"{metric} p (randomised)"] if self.randomised else []
        rows = []
        for name, scores in self.systems.items():
            row = [name]
            for metric in self.signatures:
                score = scores[metric]
                row += [f"{score.value:.2f}", f"{score.mean:.2f} ± {score.interval:.2f}"]
                row.append(p_text(score.p_value))
                if self.randomised:
                    row.append(p_text(score.p_randomised))
            rows.append(row)
        return header, rows

    def notes(self) -> list[str]:
        """Return a line for each metric and test, with its signature."""
        lines = [f"{metric}: {signature}" for metric, signature in self.signatures.items()]
        return lines + [f"{metric} (randomised): {own}" for metric, own in self.randomised.items()]


def compare_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
    resamples: int = RESAMPLES,
    exchanges: int = 0,
) -> SystemScores:
    """Score systems and compare each with the first, by paired tests.

    Args:
        systems: the translations of each system, by name; at least two.
        references: see `corpus_score`.
        metrics: names, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: number of test sets, drawn with replacement.
        exchanges: number of exchanges of approximate randomisation; 0 skips that test.

    Raises:
        UserError: as for `corpus_score` and `resampling_seed`.

    Example:
        ```python
        from t2t_phrase.evaluation.systems import compare_systems

        references = ["The old house is red.", "Two trees."]
        systems = {
            "baseline": ["The house is red.", "Two tree."],
            "ours": ["The old house is red.", "Two tree."],
        }
        found = compare_systems(systems, references, metrics=["chrf"])
        print(found.systems["ours"]["chrF2"].p_value, found.signatures)
        ```
    """
    options: dict[str, Any] = {"metrics": metrics, "tokenize": tokenize, "lowercase": lowercase}
    signatures, found = resampled(systems, references, resamples=resamples, **options)
    exchange_signatures: dict[str, str] = {}
    by_exchange: dict[str, list[float | None]] = {}
    if exchanges:
        exchange_signatures, by_exchange = randomised(
            systems, references, exchanges=exchanges, **options
        )
    sentences = len(next(iter(systems.values())))
    table = {
        system: {
            metric: SystemScore(
                float(results[row].score),
                float(results[row].mean),
                float(results[row].ci),
                p_value(results[0], results[row], sentences) if row else None,
                by_exchange[metric][row] if exchanges else None,
            )
            for metric, results in found.items()
        }
        for row, system in enumerate(systems)
    }
    return SystemScores(table, signatures, exchange_signatures)
