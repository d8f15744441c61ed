"""The hidden Markov model of word alignments (Vogel et al., 1996), with an empty word.

The state is the last source position that a word was aligned with, 0 at the start. With
probability `EMPTY` a target word comes from the empty word, and the state does not change (Och and
Ney, 2003); otherwise the state moves by `jumps.transitions`, and the word comes from the new
position.

Shapes: n sentence pairs of I source and J target words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

from t2t_phrase.word_aligner import jumps
from t2t_phrase.word_aligner.cells import Cells
from t2t_phrase.word_aligner.lexicon import add_counts, estimate

# Probability that a target word comes from the empty word.
EMPTY = 0.2
# Maximum number of scores that the search compares at once.
_MOST_COMPARED = 4_000_000

Transitions = Callable[[int], np.ndarray]


def iteration(
    cells: Cells, lexicon: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return lexicon and jump weights after an iteration of EM, and the log-likelihood before it.

    Args:
        cells: of the corpus.
        lexicon: (entries,) float64.
        weights: of jumps, see `jumps.uniform`.
    """
    counts, jump_counts, likelihood = np.zeros_like(lexicon), np.zeros_like(weights), 0.0
    transitions = _remembered(weights)
    for chunk in cells.chunks:
        values = lexicon[chunk.entries]
        for bucket in chunk.buckets:
            view = bucket.of(values)
            posteriors, moves, found = expect(view, transitions(view.shape[2] - 1))
            view[...] = posteriors
            jumps.add_counts(jump_counts, moves)
            likelihood += found
        add_counts(counts, chunk.entries, values)
    return estimate(cells, counts), jump_counts, likelihood


def expect(emissions: np.ndarray, moving: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the expected counts of the alignments of some pairs (forward-backward algorithm).

    Args:
        emissions: (J, n, I + 1), the probability of each target word given the empty word and
            each source word.
        moving: (I + 1, I), see `jumps.transitions`.

    Returns:
        (J, n, I + 1), the probability that a target word comes from each of those words; (I + 1,
        I), the expected number of moves between positions; and the log-likelihood.
    """
    longest, pairs, states = emissions.shape
    empty = EMPTY * emissions[:, :, :1]  # (J, n, 1)
    words = (1 - EMPTY) * emissions[:, :, 1:]  # (J, n, I)
    before = np.zeros((longest + 1, pairs, states))  # divided by the sum over states
    before[0, :, 0] = 1
    moved = np.empty_like(words)
    sums = np.empty((longest, pairs, 1))
    for j in range(longest):
        moved[j] = before[j] @ moving
        after = empty[j] * before[j]
        after[:, 1:] += words[j] * moved[j]
        sums[j] = after.sum(axis=1, keepdims=True)
        before[j + 1] = after / sums[j]
    posteriors = np.empty_like(emissions)
    arrivals = np.empty_like(words)
    rest = np.ones((pairs, states))  # backward probabilities, divided by the same sums
    for j in reversed(range(longest)):
        stay = empty[j] / sums[j]
        arrivals[j] = words[j] * rest[:, 1:] / sums[j]
        posteriors[j, :, 1:] = moved[j] * arrivals[j]
        posteriors[j, :, :1] = stay * (before[j] * rest).sum(axis=1, keepdims=True)
        rest = stay * rest + arrivals[j] @ moving.T
    # One product over all target words of all pairs.
    moves = before[:-1].reshape(-1, states).T @ arrivals.reshape(-1, states - 1)
    return posteriors, moves * moving, float(np.log(sums).sum())


def viterbi(
    cells: Cells, lexicon: np.ndarray, weights: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the numbers of some pairs, (n,), and their best alignments, (n, J) int.

    An alignment gives the source position of each target word, from 1, or 0 for the empty word.

    Args:
        cells: of the corpus.
        lexicon: (entries,) float64.
        weights: of jumps, see `jumps.uniform`.
    """
    transitions = _remembered(weights)
    for chunk in cells.chunks:
        values = lexicon[chunk.entries]
        for bucket in chunk.buckets:
            view = bucket.of(values)
            moving = transitions(view.shape[2] - 1)
            rows = max(1, _MOST_COMPARED // moving.size)
            for start in range(0, view.shape[1], rows):
                part = slice(start, start + rows)
                yield bucket.pairs[part], best_path(view[:, part], moving)


def best_path(emissions: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Return (n, J) int: the most probable alignments; arguments as for `expect`."""
    longest, pairs, states = emissions.shape
    scores = np.zeros((pairs, states))
    scores[:, 0] = 1
    origins = np.zeros((longest, pairs, states), int)  # -1: the word comes from the empty word
    for j in range(longest):
        ways = scores[:, :, None] * moving  # (n, I + 1, I)
        origin = ways.argmax(axis=1)
        moved = np.take_along_axis(ways, origin[:, None], axis=1)[:, 0]
        moved *= (1 - EMPTY) * emissions[j, :, 1:]
        scores = EMPTY * emissions[j, :, :1] * scores
        origins[j, :, 0] = -1
        origins[j, :, 1:] = np.where(moved >= scores[:, 1:], origin, -1)
        scores[:, 1:] = np.maximum(moved, scores[:, 1:])
        scores /= scores.max(axis=1, keepdims=True)
    found = np.zeros((pairs, longest), int)
    state, every = scores.argmax(axis=1), np.arange(pairs)
    for j in reversed(range(longest)):
        origin = origins[j, every, state]
        found[:, j] = np.where(origin < 0, 0, state)
        state = np.where(origin < 0, state, origin)
    return found


def _remembered(weights: np.ndarray) -> Transitions:
    # Buckets are ordered by source length, so caching one matrix is enough.
    return functools.lru_cache(maxsize=1)(lambda length: jumps.transitions(weights, length))
