"""Minimum Bayes risk decoding: the samples that agree best with all others.

Shapes: N texts.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from t2t_phrase.decoding.hypothesis import Hypothesis

# Parameters of sacreBLEU's chrF2.
ORDERS, BETA = 6, 2
# The number of n-grams that are compared at once.
_BLOCK = 4096


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
    lengths = np.array([len(text) for text in bare])
    for order in range(1, ORDERS + 1):
        totals = np.maximum(lengths - order + 1, 0).astype("float64")
        matches = _matches(bare, order)
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


def _matches(texts: Sequence[str], order: int) -> np.ndarray:
    """Return (N, N) float64: the number of n-grams that two different texts have in common.

    The lower of two counts is the number of all k >= 1 that neither is below, so the sums are
    products of matrices, which BLAS computes fast.
    """
    counted = [
        Counter(text[start : start + order] for start in range(len(text) - order + 1))
        for text in texts
    ]
    # Most n-grams occur in one text only, and match nothing.
    shared = Counter(itertools.chain.from_iterable(counted))
    numbers = {gram: i for i, gram in enumerate(gram for gram in shared if shared[gram] > 1)}
    entries = [
        (numbers[gram], row, count)
        for row, counts in enumerate(counted)
        for gram, count in counts.items()
        if gram in numbers
    ]
    grams, rows, counts = np.array(sorted(entries), "int64").reshape(-1, 3).T
    found = np.zeros((len(texts), len(texts)))
    for first in range(0, len(numbers), _BLOCK):
        begin, end = (int(np.searchsorted(grams, at)) for at in (first, first + _BLOCK))
        block: np.ndarray = np.zeros((len(texts), min(_BLOCK, len(numbers) - first)), "float32")
        block[rows[begin:end], grams[begin:end] - first] = counts[begin:end]
        for least in range(1, int(block.max()) + 1):
            block = block[:, (block >= least).any(axis=0)]
            reached = (block >= least).astype("float32")
            found += reached @ reached.T
    return found
