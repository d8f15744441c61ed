"""Corpus scores by sacreBLEU, each with its signature."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
from sacrebleu.utils import SACREBLEU_DIR

from t2t_phrase.config import UserError, nearest, shown
from t2t_phrase.io.line_counts import check_one_to_one
from t2t_phrase.text.moses import MosesTokenizer, is_moses

METRICS = ("bleu", "chrf", "chrf++", "ter")


@dataclasses.dataclass(frozen=True)
class Score:
    """A corpus score.

    Attributes:
        name: name of the metric, "BLEU", "chrF2", "chrF2++" or "TER".
        value: in per cent; higher is better, except for TER.
        signature: sacreBLEU's signature; only scores with the same signature are comparable.
        parts: for BLEU, the n-gram precisions, the brevity penalty and the lengths.
    """

    name: str
    value: float
    signature: str
    parts: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.2f}  {self.signature}"


def corpus_score(
    metric: str,
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Score:
    """Score detokenised translations against one or several references.

    Args:
        metric: "bleu", "chrf", "chrf++" (chrF with unigrams and bigrams of words) or "ter".
        hypotheses: one translation for each sentence.
        references: one reference for each sentence, or several such lists.
        tokenize: sacreBLEU's tokenizer, used by BLEU only. "intl" reproduces t2t-bleu. "moses-de"
            is Moses' tokenizer for German, and so on.
        lowercase: whether to ignore case.

    Raises:
        UserError: the metric or tokenizer is unknown, there are no sentences, or the lists have
            different lengths.

    Example:
        ```python
        from t2t_phrase.evaluation.scores import corpus_score

        score = corpus_score("bleu", ["The old house is red."], ["The old house was red."])
        value = score.value  # 37.99
        print(f"{score.name} {score.value:.2f} {score.signature}")
        ```
    """
    lists = as_reference_lists(references)
    check_lengths(hypotheses, lists)
    scorer = make_metric(metric, tokenize=tokenize, lowercase=lowercase)
    try:
        result = scorer.corpus_score(list(hypotheses), [list(column) for column in lists])
    finally:
        forget_sentences(getattr(scorer, "tokenizer", None))
    parts = _parts(result) if isinstance(result, BLEUScore) else ""
    return Score(result.name, float(result.score), str(scorer.get_signature()), parts)


def _parts(bleu: BLEUScore) -> str:
    """Return the precisions, the brevity penalty and the lengths, in sacreBLEU's format."""
    precisions = "/".join(f"{precision:.1f}" for precision in bleu.precisions)
    return (
        f"{precisions} (BP = {bleu.bp:.3f} ratio = {bleu.ratio:.3f} "
        f"hyp_len = {bleu.sys_len} ref_len = {bleu.ref_len})"
    )


def make_metric(metric: str, *, tokenize: str, lowercase: bool) -> Metric:
    """Return sacreBLEU's object for a metric.

    Raises:
        UserError: the metric is unknown, or as for `make_bleu`.
    """
    if metric not in METRICS:
        hint = nearest(metric, METRICS) or f"; known: {', '.join(METRICS)}"
        raise UserError(f"metric {shown(metric)} is unknown{hint}")
    if metric == "bleu":
        return make_bleu(tokenize=tokenize, lowercase=lowercase)
    _check_known(tokenize)
    if metric.startswith("chrf"):
        return CHRF(word_order=2 if metric == "chrf++" else 0, lowercase=lowercase)
    return TER(case_sensitive=not lowercase)


def make_bleu(*, tokenize: str, lowercase: bool, **options: Any) -> BLEU:
    """Return sacreBLEU's object for BLEU.

    Args:
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        **options: further options of sacreBLEU.

    Raises:
        UserError: the tokenizer is unknown, or a package or model that it needs is missing; nothing
            is downloaded.
    """
    _check_known(tokenize)
    _check_model(tokenize)
    try:
        if not is_moses(tokenize):
            # Text to be scored as it is may be in tokens, of which sacreBLEU would warn.
            force = tokenize == "none"
            return BLEU(tokenize=tokenize, lowercase=lowercase, force=force, **options)
        bleu = BLEU(tokenize="none", lowercase=lowercase, **options)
        bleu.tokenizer = MosesTokenizer(tokenize)
        bleu.tokenizer_signature = bleu.tokenizer.signature()
        return bleu
    except (ImportError, RuntimeError, OSError) as error:
        raise UserError(f"tokenize {tokenize!r} cannot be used: {error}") from error


def _check_known(tokenize: str) -> None:
    if tokenize not in BLEU.TOKENIZERS and not is_moses(tokenize):
        known = (*BLEU.TOKENIZERS, "moses-LANGUAGE")
        hint = nearest(tokenize, known) or f"; known: {', '.join(known)}"
        raise UserError(f"tokenize {shown(tokenize)} is unknown{hint}")


def _check_model(tokenize: str) -> None:
    """Check that the model of a tokenizer exists, which sacreBLEU would otherwise download.

    Raises:
        UserError: the model is missing.
    """
    if tokenize not in SPM_MODELS:
        return
    path = pathlib.Path(SACREBLEU_DIR, "models", SPM_MODELS[tokenize]["url"].rsplit("/", 1)[-1])
    if not path.exists():
        raise UserError(
            f"tokenize {tokenize!r} needs sacreBLEU's model {path}, and scoring downloads nothing; "
            "to download it: python -c 'from sacrebleu.metrics import BLEU; "
            f'BLEU(tokenize="{tokenize}")\''
        )


def forget_sentences(tokenizer: object) -> None:
    """Empty the caches of sacreBLEU's tokenizers, which are never read again.

    The caches belong to classes and would keep tens of thousands of translations during training.
    """
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        clear = getattr(vars(type(part)).get("__call__"), "cache_clear", None)
        if clear is not None:
            clear()


def as_reference_lists(
    references: Sequence[str] | Sequence[Sequence[str]],
) -> list[Sequence[str]]:
    """Return a list of reference lists, given one list or several."""
    if not references or isinstance(references[0], str):
        return [references]  # type: ignore[list-item]
    return list(references)


def check_lengths(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Check that every list has one reference for each sentence.

    Raises:
        UserError: the lengths differ, or there are no sentences.
    """
    for number, column in enumerate(references, start=1):
        which = f"reference {number}" if len(references) > 1 else "the reference"
        check_one_to_one("the translation", len(hypotheses), which, len(column))
    if not hypotheses:
        raise UserError("there are no sentences to score")
