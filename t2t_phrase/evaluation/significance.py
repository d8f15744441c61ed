"""Statistical significance by the paired bootstrap test; sacreBLEU's for its own metrics."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sacrebleu.significance import PairedTest, Result

from t2t_phrase.config import UserError, shown
from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric

RESAMPLES = 1000
# With fewer sentences, all resampled test sets are the same.
LEAST_SENTENCES = 2
# Equal scores may differ by the rounding of sums and means.
ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class PairedComparison:
    """A comparison of a system with a baseline on the same sentences.

    Attributes:
        name: name of the metric.
        baseline, value: scores of the baseline and of the system, in per cent.
        p_value: see `p_value_of`; below 0.05 is usually called significant. None: there is only one
            sentence, of which all resampled test sets consist.
        signature: sacreBLEU's signature of the test and the metric.
    """

    name: str
    baseline: float
    value: float
    p_value: float | None
    signature: str

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value:.2f}, baseline {self.baseline:.2f}, "
            f"difference {self.value - self.baseline:+.2f}, p = {p_text(self.p_value)}  "
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
        UserError: as for `corpus_score` and `resampling_seed`.

    Example:
        ```python
        from t2t_phrase.evaluation.significance import paired_bootstrap

        references = ["The old house is red.", "Two trees.", "A small cat sleeps here."]
        baseline = ["The old house is a red.", "Two tree.", "A small cat sleeps here."]
        hypotheses = ["The old house is red.", "Two trees.", "A small cat sleeps there."]
        (chrf,) = paired_bootstrap(hypotheses, baseline, references, metrics=["chrf"])
        print(f"{chrf.baseline:.2f} -> {chrf.value:.2f} (p = {chrf.p_value:.3f})")
        ```
    """
    signatures, found = resampled(
        {"baseline": baseline, "system": hypotheses},
        references,
        metrics=metrics,
        tokenize=tokenize,
        lowercase=lowercase,
        resamples=resamples,
    )
    return [
        PairedComparison(
            name=name,
            baseline=float(base.score),
            value=float(ours.score),
            p_value=p_value(base, ours, len(hypotheses)),
            signature=signatures[name],
        )
        for name, (base, ours) in found.items()
    ]


def resampled(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str],
    tokenize: str,
    lowercase: bool,
    resamples: int,
) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Return the signature and sacreBLEU's result of each system, by the name of the metric.

    Args:
        systems: the translations of each system, by name; the first is the baseline.
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
    for lines in systems.values():
        check_lengths(lines, lists)
    scorers = {name: make_metric(name, tokenize=tokenize, lowercase=lowercase) for name in metrics}
    paired = PairedTest(
        [(name, list(lines)) for name, lines in systems.items()],
        scorers,
        [list(column) for column in lists],
        test_type="bs",
        n_samples=resamples,
    )
    signatures, found = paired()
    # The first column contains the names of the systems.
    results: dict[str, list[Any]] = {
        name: list(own) for name, own in found.items() if name != "System"
    }
    return {name: str(signatures[name]) for name in results}, results


def p_value(base: Result, ours: Result, sentences: int) -> float | None:
    """Return the p-value of the difference between two results of `resampled`, if it has one."""
    if ours.p_value is None or sentences < LEAST_SENTENCES:
        return None
    # sacreBLEU compares by ">", which would make equal scores significantly different.
    return 1.0 if base.score == ours.score else float(ours.p_value)


def resampling_seed() -> int | None:
    """Return the seed of resampling, which sacreBLEU reads from SACREBLEU_SEED; None: not fixed.

    Raises:
        UserError: the value is neither a positive number nor "none".
    """
    seed = os.environ.get("SACREBLEU_SEED", "12345")
    if seed.lower() == "none":
        return None
    # sacreBLEU takes 0 for "none", but signs it as a seed.
    if not re.fullmatch("[1-9][0-9]{0,17}", seed):
        raise UserError(
            f"SACREBLEU_SEED={shown(seed)} in the environment: set it to a positive number, or to "
            "none for a different seed each time"
        )
    return int(seed)


def resampled_sums(counts: np.ndarray, resamples: int) -> np.ndarray:
    """Return the sums over the sentences of resampled test sets, drawn as by sacreBLEU.

    Args:
        counts: (S, C) float64, C counts of each of S sentences.
        resamples: number of test sets, drawn with replacement.

    Returns:
        (resamples, C) float64.

    Raises:
        UserError: as for `resampling_seed`.
    """
    draw, sentences = np.random.default_rng(resampling_seed()), len(counts)
    sums = np.empty((resamples, counts.shape[1]))
    for row in sums:
        # How often each sentence is drawn: gathering the drawn sentences of all test sets would
        # take a thousand times the memory.
        times = np.bincount(draw.choice(sentences, size=sentences), minlength=sentences)
        row[:] = times @ counts
    return sums


def p_value_of(resampled: np.ndarray, difference: float) -> float | None:
    """Return the share of test sets on which equally good systems would differ by more.

    As in sacreBLEU, the mean size of the differences is subtracted from each size, and the test set
    itself counts as one of the resampled ones. Where nearly all differences have one sign, this is
    a one-sided test, whose p is half of that of a two-sided one.

    Args:
        resampled: (R,) the difference on each resampled test set.
        difference: the difference on the test set itself.

    Returns:
        None if nothing was resampled; 1.0 if there is no difference but that of rounding, as
        between the means of seeds in another order.
    """
    if abs(difference) < ROUNDING:
        return 1.0
    if not resampled.size:
        return None
    shifted = np.abs(resampled) - np.abs(resampled).mean()
    return float((shifted > abs(difference)).sum() + 1) / (resampled.size + 1)
