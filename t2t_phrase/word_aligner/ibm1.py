"""IBM model 1 (Brown et al., 1993): all source words and the empty word are equally likely."""

from __future__ import annotations

import numpy as np

from t2t_phrase.word_aligner.cells import Cells
from t2t_phrase.word_aligner.lexicon import add_counts, estimate


def iteration(cells: Cells, lexicon: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the lexicon after one iteration of EM, and the log-likelihood before it.

    Args:
        cells: of the corpus.
        lexicon: (entries,) float64.
    """
    counts, likelihood = np.zeros_like(lexicon), 0.0
    for chunk in cells.chunks:
        posteriors = lexicon[chunk.entries]
        for bucket in chunk.buckets:
            likelihood += _divide(bucket.of(posteriors))
        add_counts(counts, chunk.entries, posteriors)
    return estimate(cells, counts), likelihood


def _divide(probabilities: np.ndarray) -> float:
    """Turn probabilities (J, n, I + 1) into posteriors in place; return their log-likelihood."""
    totals = probabilities.sum(axis=2, keepdims=True)
    probabilities /= totals
    return float(np.log(totals / probabilities.shape[2]).sum())
