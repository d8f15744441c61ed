"""Minimum Bayes risk decoding: the samples that agree best with all others.

Shapes: N texts, G different n-grams in all of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np

from t2t_phrase.decoding.hypothesis import Hypothesis

# Parameters of sacreBLEU's chrF2.
ORDERS, BETA = 6, 2


def by_expected_chrf(samples: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the samples of a sentence, those with the greatest expected chrF first.

    Eikema and Aziz (2020), with chrF as the utility: for a sample h,

        u(h) = 1 / M sum_r chrF(h, r)

    over all M samples r, h included. Of samples with equal utility, those with better scores come
    first.

    Args:
        samples: of one sentence.
    """
    texts = [sample.text for sample in samples]
    counts = Counter(texts)
    # Sorted, so that not even the rounding of the sums depends on the order of the samples.
    different = sorted(counts)
    weights = np.array([counts[text] for text in different], "float64")
    utilities = chrf_of_pairs(different) @ weights / len(texts)
    expected = dict(zip(different, utilities.tolist(), strict=True))
    found = [dataclasses.replace(sample, expected_chrf=expected[sample.text]) for sample in samples]
    return sorted(found, key=lambda sample: (-expected[sample.text], -sample.score))


def chrf_of_pairs(texts: Sequence[str]) -> np.ndarray:
    """Return (N, N) float64: sacreBLEU's sentence chrF2 of each text given each as the reference.

    The n-grams of a text are counted once, and all pairs are compared at once.

    Popovic (2015), Eq. (1), as sacreBLEU computes it: n-grams of 1 to 6 characters without blanks;
    precision and recall are means over the orders for which both texts have n-grams.

    Args:
        texts: may contain duplicates.
    """
    bare = ["".join(text.split()) for text in texts]
    precisions = np.zeros((len(texts), len(texts)))
    recalls, orders = precisions.copy(), precisions.copy()
    for order in range(1, ORDERS + 1):
        counts = _counts(bare, order)  # (N, G)
        totals = counts.sum(axis=1, dtype="float64")
        # Most n-grams occur in one text only, and match nothing but that text.
        counts = counts[:, (counts > 0).sum(axis=0) > 1]
        matches = np.stack([np.minimum(counts, row).sum(axis=1) for row in counts], axis=1)
        np.fill_diagonal(matches, totals)
        # Texts are rows, references are columns.
        both = (totals[:, None] > 0) & (totals[None] > 0)
        precisions += np.where(both, matches / np.maximum(totals, 1)[:, None], 0.0)
        recalls += np.where(both, matches / np.maximum(totals, 1)[None], 0.0)
        orders += both
    precisions /= np.maximum(orders, 1)
    recalls /= np.maximum(orders, 1)
    below = BETA**2 * precisions + recalls
    above = (1 + BETA**2) * precisions * recalls
    return np.asarray(100 * np.divide(above, below, out=np.zeros_like(above), where=below > 0))


def _counts(texts: Sequence[str], order: int) -> np.ndarray:
    """Return (N, G) int32: how often each n-gram of any text occurs in each text."""
    numbers: dict[str, int] = {}
    places = []
    for row, text in enumerate(texts):
        for start in range(len(text) - order + 1):
            gram = text[start : start + order]
            places.append((row, numbers.setdefault(gram, len(numbers))))
    counts = np.zeros((len(texts), len(numbers)), "int32")
    if places:
        np.add.at(counts, tuple(np.array(places).T), 1)
    return counts
