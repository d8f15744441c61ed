"""chrF of single sentences by sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence

from t2t_phrase.evaluation.scores import as_reference_lists, check_lengths, make_metric


def sentence_chrf(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
) -> list[float]:
    """Return the chrF of each translation, in per cent.

    Args:
        hypotheses: one translation for each sentence.
        references: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: the lists have different lengths, or there are no sentences.
    """
    lists = as_reference_lists(references)
    check_lengths(hypotheses, lists)
    scorer = make_metric("chrf", tokenize="13a", lowercase=lowercase)
    return [
        float(scorer.sentence_score(hypothesis, list(own)).score)
        for hypothesis, *own in zip(hypotheses, *lists, strict=True)
    ]
