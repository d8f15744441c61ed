"""IBM model 1 and the hidden Markov model in float64 loops, from the equations.

A sentence pair is (source, target), lists of words; None is the empty word. A lexicon maps
(source word, target word) to a probability.
"""

import itertools
import math

import numpy as np


def pairs_of_words(corpus):
    return {(e, f) for source, target in corpus for e in (None, *source) for f in target}


def normalised(counts):
    totals = {}
    for (e, _), count in counts.items():
        totals[e] = totals.get(e, 0.0) + count
    return {(e, f): count / totals[e] for (e, f), count in counts.items()}


def ibm1_iteration(corpus, t):
    """Return the next lexicon and the log-likelihood: Brown et al. (1993), Eq. (15) to (17)."""
    counts, likelihood = dict.fromkeys(t, 0.0), 0.0
    for source, target in corpus:
        for f in target:
            total = sum(t[e, f] for e in (None, *source))
            likelihood += math.log(total / (len(source) + 1))
            for e in (None, *source):
                counts[e, f] += t[e, f] / total
    return normalised(counts), likelihood


def transition(weights, before, after, length, uniform):
    """Return the probability to move from position `before` to `after`, both from 1, 0: start."""
    total = sum(weights[k - before] for k in range(1, length + 1))
    return (1 - uniform) * weights[after - before] / total + uniform / length


def paths(source, target, t, weights, *, empty, uniform):
    """Yield every alignment, 0 being the empty word, with its probability."""
    for path in itertools.product(range(len(source) + 1), repeat=len(target)):
        probability, last = 1.0, 0
        for position, f in zip(path, target, strict=True):
            if position:
                move = transition(weights, last, position, len(source), uniform)
                probability *= (1 - empty) * move * t[source[position - 1], f]
                last = position
            else:
                probability *= empty * t[None, f]
        yield path, probability


def hmm_expectations(source, target, t, weights, **options):
    """Return posteriors (J, I + 1), moves (I + 1, I) and the likelihood, over all alignments."""
    posteriors = np.zeros((len(target), len(source) + 1))
    moves = np.zeros((len(source) + 1, len(source)))
    total = 0.0
    for path, probability in paths(source, target, t, weights, **options):
        total += probability
        last = 0
        for j, position in enumerate(path):
            posteriors[j, position] += probability
            if position:
                moves[last, position - 1] += probability
                last = position
    return posteriors / total, moves / total, total


def hmm_iteration(corpus, t, weights, **options):
    """Return the next lexicon and jumps, and the log-likelihood."""
    counts, jumps, likelihood = dict.fromkeys(t, 0.0), dict.fromkeys(weights, 0.0), 0.0
    for source, target in corpus:
        posteriors, moves, total = hmm_expectations(source, target, t, weights, **options)
        likelihood += math.log(total)
        for j, f in enumerate(target):
            for i, e in enumerate((None, *source)):
                counts[e, f] += posteriors[j, i]
        for before in range(len(source) + 1):
            for after in range(1, len(source) + 1):
                jumps[after - before] += moves[before, after - 1]
    return normalised(counts), jumps, likelihood
