"""Statistical significance by sacreBLEU's paired bootstrap test."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from sacrebleu.significance import PairedTest, Result

from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric

RESAMPLES = 1000


@dataclasses.dataclass(frozen=True)
class PairedComparison:
    """A comparison of a system with a baseline on the same sentences.

    Attributes:
        name: name of the metric.
        baseline, value: scores of the baseline and of the system, in per cent.
        p_value: share of the resampled test sets (shifted to the null hypothesis) on which the two
            differ at least as much as they do here; below 0.05 is usually called significant.
        signature: sacreBLEU's signature of the test and the metric.
    """

    name: str
    baseline: float
    value: float
    p_value: float
    signature: str

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value:.2f}, baseline {self.baseline:.2f}, "
            f"difference {self.value - self.baseline:+.2f}, p = {self.p_value:.4f}  "
            f"{self.signature}"
        )


def paired_bootstrap(
    hypotheses: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> list[PairedComparison]:
    """Compare two systems by each metric (Koehn, 2004).

    Args:
        hypotheses: one translation for each sentence.
        baseline: the translations of the other system.
        references: see `corpus_score`.
        metrics: names, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: number of test sets, drawn with replacement.

    Raises:
        UserError: as for `corpus_score`.
    """
    lists = as_reference_lists(references)
    check_lengths(hypotheses, lists)
    check_lengths(baseline, lists)
    scorers = {name: make_metric(name, tokenize=tokenize, lowercase=lowercase) for name in metrics}
    test = PairedTest(
        [("baseline", list(baseline)), ("system", list(hypotheses))],
        scorers,
        [list(column) for column in lists],
        test_type="bs",
        n_samples=resamples,
    )
    signatures, scores = test()
    comparisons = []
    for name, (base, ours) in scores.items():
        # The first column contains the names of the systems.
        if isinstance(base, Result) and isinstance(ours, Result):
            comparisons.append(
                PairedComparison(
                    name=name,
                    baseline=float(base.score),
                    value=float(ours.score),
                    p_value=_p_value(base, ours),
                    signature=str(signatures[name]),
                )
            )
    return comparisons


def _p_value(base: Result, ours: Result) -> float:
    # sacreBLEU compares by ">", which makes no difference at all a significant one.
    if base.score == ours.score:
        return 1.0
    return math.nan if ours.p_value is None else float(ours.p_value)
