"""Precision of the n-grams of translations, for each order, as in Figure 2 of Hao et al. (2019).

Shapes: S sentences, N orders.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.aligned import aligned
from t2t_phrase.evaluation.scores import (
    as_reference_lists,
    check_lengths,
    forget_sentences,
    make_bleu,
)
from t2t_phrase.evaluation.significance import (
    LEAST_SENTENCES,
    RESAMPLES,
    p_value_of,
    resampled_sums,
    resampling_seed,
)

# Hao et al. (2019), Figure 2.
ORDERS = 8
# The memory for one line grows with the square of the order.
LARGEST_ORDER = 32


@dataclasses.dataclass(frozen=True)
class OrderPrecision:
    """The n-grams of one order.

    Attributes:
        order: their length in words.
        ngrams: their number in the translations.
        precision: share of them in the references, in per cent; None if there are none.
        baseline: precision of the other system; None if it has none, or there is no other system.
        p_value: of the difference; None if there is no difference to test, or if only one sentence
            has such n-grams.
    """

    order: int
    ngrams: int
    precision: float | None
    baseline: float | None = None
    p_value: float | None = None

    @property
    def difference(self) -> float | None:
        """The precision minus that of the other system."""
        if self.precision is None or self.baseline is None:
            return None
        return self.precision - self.baseline


@dataclasses.dataclass(frozen=True)
class NgramPrecisions:
    """The n-gram precision of a system, alone or compared with another one.

    Attributes:
        orders: n-grams of each order, from 1.
        signature: how n-grams were counted, in the form of sacreBLEU's signatures; with "bs" and
            "seed" if two systems were compared.
        compared: whether two systems were compared.
    """

    orders: list[OrderPrecision]
    signature: str
    compared: bool

    def __str__(self) -> str:
        return f"n-gram precision  {self.signature}\n{as_text(self)}"


def ngram_precisions(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    orders: int = ORDERS,
    baseline: Sequence[str] | None = None,
    tokenize: str = "13a",
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> NgramPrecisions:
    """Compute the precision of n-grams of every order up to `orders` over the whole corpus.

    N-grams are counted as for BLEU: an n-gram of a translation is right at most as often as it
    occurs in one of its references. With a baseline, each order has a p-value by the test of
    `paired_bootstrap`; resampled test sets on which a system has no n-grams of an order do not
    count for that order.

    Args:
        hypotheses: one translation for each sentence.
        references: see `corpus_score`.
        orders: length of the longest n-grams, in words.
        baseline: the translations of another system.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: number of test sets, drawn with replacement.

    Raises:
        UserError: as for `corpus_score`, or if `orders` is not positive or above LARGEST_ORDER.

    Example:
        ```python
        from t2t_phrase.evaluation.ngram_precision import ngram_precisions

        found = ngram_precisions(["the old house is red"], ["the old house was red"], orders=3)
        percent = [order.precision for order in found.orders]  # [80.0, 50.0, 33.33]
        ```
    """
    check_orders(orders)
    lists = as_reference_lists(references)
    check_lengths(hypotheses, lists)
    # Without effective orders, sacreBLEU would warn about scores of sentences.
    scorer = make_bleu(
        tokenize=tokenize, lowercase=lowercase, max_ngram_order=orders, effective_order=True
    )
    ours = _counts(scorer, hypotheses, lists)
    theirs = None
    if baseline is not None:
        check_lengths(baseline, lists)
        theirs = _counts(scorer, baseline, lists)
    signature = scorer.get_signature()
    for name in ("eff", "smooth"):  # of scores that combine orders
        signature.info.pop(name)
    if theirs is None:
        made = [OrderPrecision(n, total, own) for n, total, own in _precisions(ours)]
    else:
        made = _compare(ours, theirs, resamples)
        signature.update("bs", resamples)
        signature.update("seed", str(resampling_seed()).lower())
    return NgramPrecisions(made, str(signature), theirs is not None)


def check_orders(orders: int) -> None:
    """Check the longest order of n-grams.

    Raises:
        UserError: the order is not positive, or above LARGEST_ORDER.
    """
    if not 1 <= orders <= LARGEST_ORDER:
        raise UserError(f"n-gram order {orders} is out of range; choose 1 to {LARGEST_ORDER}")


@dataclasses.dataclass(frozen=True)
class _Counts:
    """The n-grams of each sentence and order, (S, N) float64: those that are right, and all."""

    right: np.ndarray
    total: np.ndarray


def _counts(
    scorer: BLEU, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> _Counts:
    try:
        scores = [
            scorer.sentence_score(hypothesis, own)
            for hypothesis, *own in zip(hypotheses, *references, strict=True)
        ]
    finally:
        forget_sentences(scorer.tokenizer)
    return _Counts(
        np.array([score.counts for score in scores], np.float64),
        np.array([score.totals for score in scores], np.float64),
    )


def _precisions(counts: _Counts) -> list[tuple[int, int, float | None]]:
    """Return (order, number of n-grams, precision) for each order."""
    right, total = counts.right.sum(axis=0), counts.total.sum(axis=0)
    return [
        (order, int(all_), float(100 * good / all_) if all_ else None)
        for order, (good, all_) in enumerate(zip(right, total, strict=True), start=1)
    ]


def _compare(ours: _Counts, theirs: _Counts, resamples: int) -> list[OrderPrecision]:
    sums = resampled_sums(
        np.concatenate([ours.right, ours.total, theirs.right, theirs.total], axis=1), resamples
    )
    right, total, other_right, other_total = np.split(sums, 4, axis=1)
    with np.errstate(invalid="ignore"):
        differences = 100 * right / total - 100 * other_right / other_total
    sentences = ((ours.total > 0) | (theirs.total > 0)).sum(axis=0)
    made = []
    for at, ((order, ngrams, own), (_, _, other)) in enumerate(
        zip(_precisions(ours), _precisions(theirs), strict=True)
    ):
        p_value = None
        if own is not None and other is not None and sentences[at] >= LEAST_SENTENCES:
            resampled = differences[:, at]
            p_value = p_value_of(resampled[np.isfinite(resampled)], own - other)
        made.append(OrderPrecision(order, ngrams, own, other, p_value))
    return made


def as_text(found: NgramPrecisions) -> str:
    """Return a table with a row for each order, and "-" for undefined values."""
    titles = ["order", "n-grams", "precision"]
    if found.compared:
        titles += ["baseline", "difference", "p"]
    rows = [titles]
    for row in found.orders:
        cells = [str(row.order), str(row.ngrams), _cell(row.precision, ".2f")]
        if found.compared:
            cells += [_cell(row.baseline, ".2f"), _cell(row.difference, "+.2f")]
            cells.append(_cell(row.p_value, ".4f"))
        rows.append(cells)
    return aligned(rows)


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
