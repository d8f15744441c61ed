"""Jumps of the aligned position from one target word to the next."""

from __future__ import annotations

import numpy as np

# Share of the uniform distribution that jumps are mixed with (Och and Ney, 2003, section 3.3).
UNIFORM = 0.2
_FLOOR = 1e-9


def uniform(longest: int) -> np.ndarray:
    """Return (2 * longest + 1,) float64: weights of jumps from -longest to longest, all the same.

    Args:
        longest: number of words of the longest source.
    """
    return np.ones(2 * longest + 1)


def transitions(weights: np.ndarray, length: int) -> np.ndarray:
    """Return (length + 1, length) float64: the probabilities of moving between positions.

    Columns are the positions 1 to `length`; rows also have 0, where every sentence starts. A row
    consists of the weights of its jumps, divided by their sum and mixed with the uniform
    distribution.

    Args:
        weights: of jumps, see `uniform`.
        length: number of words of the source.
    """
    chosen = np.maximum(weights, _FLOOR)[_jumps(length) + len(weights) // 2]
    chosen /= chosen.sum(axis=1, keepdims=True)
    return np.asarray((1 - UNIFORM) * chosen + UNIFORM / length)


def add_counts(counts: np.ndarray, moves: np.ndarray) -> None:
    """Add the expected number of moves between positions to the counts of their jumps.

    Args:
        counts: of jumps, see `uniform`.
        moves: (length + 1, length) float64.
    """
    numbers = _jumps(moves.shape[1]) + len(counts) // 2
    counts += np.bincount(numbers.ravel(), moves.ravel(), minlength=len(counts))


def _jumps(length: int) -> np.ndarray:
    return np.arange(1, length + 1) - np.arange(length + 1)[:, None]
