"""Probabilities of target words given source words, for pairs that occur together."""

from __future__ import annotations

import numpy as np

from t2t_phrase.word_aligner.cells import Cells

# Lower bound of the entries, so that every sentence remains possible.
FLOOR = 1e-12


def uniform(cells: Cells) -> np.ndarray:
    """Return (entries,) float64: the same probability for every target word."""
    return np.full(len(cells.given), 1 / cells.vocab_size)


def estimate(cells: Cells, counts: np.ndarray) -> np.ndarray:
    """Return (entries,) float64: counts divided by their sum for the same source word.

    Args:
        cells: of the corpus.
        counts: (entries,) float64, expected number of alignments of the two words of each entry.
    """
    totals = np.bincount(cells.given, counts)
    found = counts / np.maximum(totals, FLOOR)[cells.given]
    return np.asarray(np.maximum(found, FLOOR))


def add_counts(counts: np.ndarray, entries: np.ndarray, posteriors: np.ndarray) -> None:
    """Add the posterior of each cell to the count of its entry."""
    counts += np.bincount(entries, posteriors, minlength=len(counts))
