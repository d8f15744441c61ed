"""Several systems on one test set: scores, confidence intervals, and tests against the first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from sacrebleu.significance import PairedTest

from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric
from t2t_phrase.evaluation.significance import RESAMPLES, resampling_seed


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
    resampling_seed()
    lists = as_reference_lists(references)
    for hypotheses in systems.values():
        check_lengths(hypotheses, lists)
    scorers = {name: make_metric(name, tokenize=tokenize, lowercase=lowercase) for name in metrics}
    test = PairedTest(
        [(name, list(lines)) for name, lines in systems.items()],
        scorers,
        [list(column) for column in lists],
        test_type="bs",
        n_samples=resamples,
    )
    signatures, found = test()
    names = {metric: metric for metric in found if metric != "System"}
    table = {
        system: {metric: _score(found[metric][row], first=row == 0) for metric in names}
        for row, system in enumerate(systems)
    }
    return SystemScores(table, {metric: str(signatures[metric]) for metric in names})


def _score(result: Any, *, first: bool) -> SystemScore:
    p_value = None if first else float(result.p_value)
    return SystemScore(float(result.score), float(result.mean), float(result.ci), p_value)
