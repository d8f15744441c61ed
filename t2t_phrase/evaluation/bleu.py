"""BLEU, computed by sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence

from t2t_phrase.evaluation.scores import Score, corpus_score

__all__ = ["Score", "corpus_bleu"]


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Score:
    """Return the BLEU of detokenised translations, with its signature; see `corpus_score`.

    `tokenize="intl"` reproduces the cased score of tensor2tensor's t2t-bleu, and together with
    `lowercase=True` its uncased score.
    """
    return corpus_score("bleu", hypotheses, references, tokenize=tokenize, lowercase=lowercase)
