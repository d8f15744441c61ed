"""Approximate randomisation: do two systems differ as much if sentences are exchanged at random?

Riezler and Maxwell (2005), "On Some Pitfalls in Automatic Evaluation and Significance Testing for
MT". The exchanges are those that sacreBLEU draws.

Differs from sacreBLEU: exchanges after which two systems differ exactly as much as before are part
of p. sacreBLEU counts only larger differences, although equal ones are common where few sentences
differ or their counts are alike, as the edits of TER are.

Shapes: S sentences, C counts, R exchanges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sacrebleu.metrics.base import Metric

from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric
from t2t_phrase.evaluation.significance import LEAST_SENTENCES, ROUNDING, resampling_seed

# The default of sacreBLEU's command.
EXCHANGES = 10_000
# Exchanges that are added up together, which bounds the memory.
_BLOCK = 500


def randomised(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str],
    exchanges: int,
    tokenize: str,
    lowercase: bool,
) -> tuple[dict[str, str], dict[str, list[float | None]]]:
    """Compare each system with the first; return signatures and p-values by the name of the metric.

    The p-values are two-sided, and in the order of the systems: None for the first, and for all if
    there is only one sentence.

    Args:
        systems: the translations of each system, by name; the first is the baseline.
        references: see `corpus_score`.
        metrics: names, see `METRICS`.
        exchanges: R; in each, half of the sentences, on average, change sides.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: as for `corpus_score` and `resampling_seed`.
    """
    lists = [list(column) for column in as_reference_lists(references)]
    for lines in systems.values():
        check_lengths(lines, lists)
    seed, sentences = resampling_seed(), len(lists[0])
    exchanged = np.random.default_rng(seed).integers(2, size=(exchanges, sentences), dtype=bool)
    signatures, found = {}, {}
    for metric in metrics:
        scorer = make_metric(metric, tokenize=tokenize, lowercase=lowercase)
        base, *others = (
            np.array(scorer._extract_corpus_statistics(list(lines), lists), float)
            for lines in systems.values()
        )
        name = scorer._compute_score_from_stats(base.sum(axis=0)).name
        signature = scorer.get_signature()
        signature.update("seed", str(seed).lower())
        signature.update("ar", exchanges)
        signatures[name] = str(signature)
        found[name] = [
            None,
            *(
                _p_value(scorer, base, own, exchanged) if sentences >= LEAST_SENTENCES else None
                for own in others
            ),
        ]
    return signatures, found


def _p_value(scorer: Metric, base: np.ndarray, ours: np.ndarray, exchanged: np.ndarray) -> float:
    """Return the share of exchanges after which the systems differ as much, or more.

    As in sacreBLEU, the test set itself counts as one of the exchanges.

    Args:
        scorer: computes a score from sums of counts.
        base: (S, C) float64, the counts of each sentence of the baseline.
        ours: (S, C) float64, those of the other system.
        exchanged: (R, S) bool, the sentences that change sides.
    """

    def difference(counts: np.ndarray, others: np.ndarray) -> float:
        first, second = (
            scorer._compute_score_from_stats(list(own)).score for own in (counts, others)
        )
        return float(abs(first - second))

    both, own = (base + ours).sum(axis=0), ours.sum(axis=0)
    observed, as_large = difference(both - own, own), 0
    for begin in range(0, len(exchanged), _BLOCK):
        sums = own + exchanged[begin : begin + _BLOCK] @ (base - ours)
        as_large += sum(difference(both - row, row) >= observed - ROUNDING for row in sums)
    return (as_large + 1) / (len(exchanged) + 1)
