"""Several systems on one test set: scores, confidence intervals, and tests against the first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from t2t_phrase.evaluation.significance import RESAMPLES, p_value, resampled


@dataclasses.dataclass(frozen=True)
class SystemScore:
    """A score of one system.

    Attributes:
        value: the score, in per cent.
        mean, interval: of the scores of resampled test sets; 95% of them are within
            mean +- interval.
        p_value: that the difference from the first system is by chance; None: the first itself.
    """

    value: float
    mean: float
    interval: float
    p_value: float | None


@dataclasses.dataclass(frozen=True)
class SystemScores:
    """The scores of all systems.

    Attributes:
        systems: for each system, by its name, its scores by the name of the metric.
        signatures: sacreBLEU's signature of each metric.
    """

    systems: dict[str, dict[str, SystemScore]]
    signatures: dict[str, str]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table."""
        header = ["system"]
        for metric in self.signatures:
            header += [metric, "95%", "p"]
        rows = []
        for name, scores in self.systems.items():
            row = [name]
            for metric in self.signatures:
                score = scores[metric]
                p = "-" if score.p_value is None else f"{score.p_value:.4f}"
                row += [f"{score.value:.2f}", f"{score.mean:.2f} ± {score.interval:.2f}", p]
            rows.append(row)
        return header, rows

    def notes(self) -> list[str]:
        """Return a line for each metric, with its signature."""
        return [f"{metric}: {signature}" for metric, signature in self.signatures.items()]


def compare_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> SystemScores:
    """Score systems and compare each with the first, by sacreBLEU's paired bootstrap.

    Args:
        systems: the translations of each, by its name; two at least.
        references: see `corpus_score`.
        metrics: names, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: number of test sets, drawn with replacement.

    Raises:
        UserError: as for `corpus_score` and `resampling_seed`.
    """
    signatures, found = resampled(
        systems,
        references,
        metrics=metrics,
        tokenize=tokenize,
        lowercase=lowercase,
        resamples=resamples,
    )
    table = {
        system: {
            metric: SystemScore(
                float(results[row].score),
                float(results[row].mean),
                float(results[row].ci),
                p_value(results[0], results[row]) if row else None,
            )
            for metric, results in found.items()
        }
        for row, system in enumerate(systems)
    }
    return SystemScores(table, signatures)
