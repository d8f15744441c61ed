"""The paired bootstrap test between two systems that were trained with several seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric
from t2t_phrase.evaluation.significance import (
    LEAST_SENTENCES,
    RESAMPLES,
    p_value_of,
    resampled_sums,
)


def pooled_p_value(
    systems: Sequence[Sequence[str]],
    baselines: Sequence[Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metric: str = "bleu",
    tokenize: str = "13a",
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> float | None:
    """Return the p-value of the difference between mean scores over seeds.

    Every resampled test set has the same sentences for all seeds and both systems, so p accounts
    for the choice of sentences, not for that of seeds. With one seed each, this is the test of
    `paired_bootstrap`. None: there is only one sentence.

    Args:
        systems: for each seed, one translation for each sentence.
        baselines: the same of the other system.
        references: see `corpus_score`.
        metric: name, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: number of test sets, drawn with replacement.

    Raises:
        UserError: as for `corpus_score` and `resampling_seed`.

    Example:
        ```python
        from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value

        references = ["The old house is red.", "Two trees."]
        seeds = [["The old house is red.", "Two tree."], ["The old house is red.", "Two trees."]]
        baseline_seeds = [["The house is red.", "Two tree."], ["The old house was red.", "Trees."]]
        p = pooled_p_value(seeds, baseline_seeds, references, metric="chrf")
        ```
    """
    scorer = make_metric(metric, tokenize=tokenize, lowercase=lowercase)
    lists = as_reference_lists(references)
    counts = []
    for lines in (*systems, *baselines):
        check_lengths(lines, lists)
        columns = [list(column) for column in lists]
        # sacreBLEU's own test resamples these counts, but compares only one run with another.
        counts.append(np.array(scorer._extract_corpus_statistics(list(lines), columns), float))
    every = np.stack(counts, axis=1)  # (S, N, C): sentences, runs, counts
    sentences, runs, width = every.shape
    if sentences < LEAST_SENTENCES:
        return None
    sums = resampled_sums(every.reshape(sentences, -1), resamples).reshape(-1, runs, width)
    scores = np.array(
        [
            [scorer._compute_score_from_stats(own).score for own in drawn]
            for drawn in (every.sum(axis=0), *sums)
        ]
    )  # (1 + resamples, N)
    difference = scores[:, : len(systems)].mean(1) - scores[:, len(systems) :].mean(1)
    return p_value_of(difference[1:], float(difference[0]))
