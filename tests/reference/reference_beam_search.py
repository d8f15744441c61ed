"""Beam search as tensor2tensor does it, for one sentence, with lists of Python tuples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

EOS = 1

Prefix = tuple[int, ...]
LogProbs = Callable[[Prefix], Sequence[float]]


def penalty(length: int, alpha: float) -> float:
    """Return Google's length penalty."""
    return ((5 + length) / 6) ** alpha


def without_early_end(log_probs: LogProbs, prefix: Prefix, min_length: int) -> Sequence[float]:
    """Return the log-probabilities where EOS may not come before `min_length` other tokens."""
    scores = list(log_probs(prefix))
    if len(prefix) < min_length:
        rest = math.log(-math.expm1(scores[EOS]))
        scores = [s - rest for s in scores]
        scores[EOS] = -math.inf
    return scores


def search(
    log_probs: LogProbs,
    *,
    max_length: int,
    beam_size: int,
    alpha: float,
    min_length: int = 0,
    only_best: bool = False,
) -> list[tuple[Prefix, float]]:
    """Return hypotheses and scores, best first; without a finished one, the unfinished.

    Args:
        log_probs: log-probabilities of every token after a prefix.
        max_length: most tokens, EOS included.
        beam_size: K.
        alpha: exponent of the length penalty.
        min_length: fewest tokens before EOS; the other tokens share its probability.
        only_best: stop when the best hypothesis is certain, else when all K are.
    """
    alive: list[tuple[Prefix, float]] = [((), 0.0)]
    finished: list[tuple[Prefix, float]] = []
    for time in range(max_length):
        candidates = []
        for prefix, total in alive:
            scores = without_early_end(log_probs, prefix, min_length)
            candidates += [((*prefix, token), total + s) for token, s in enumerate(scores)]
        candidates.sort(key=lambda item: -item[1])
        candidates = [c for c in candidates if c[1] > -math.inf][: 2 * beam_size]
        alive = [c for c in candidates if c[0][-1] != EOS][:beam_size]
        ended = [(p, s / penalty(time + 1, alpha)) for p, s in candidates if p[-1] == EOS]
        finished = sorted(finished + ended, key=lambda item: -item[1])[:beam_size]
        if not alive:
            break
        enough = len(finished) == beam_size or (only_best and finished)
        if enough:
            bar = finished[0][1] if only_best else finished[-1][1]
            if bar > alive[0][1] / penalty(max_length, alpha):
                break
    return finished or alive


def exhaustive(
    log_probs: LogProbs, *, vocab_size: int, max_length: int, alpha: float
) -> list[tuple[Prefix, float]]:
    """Return every output that ends within `max_length` tokens, best first."""
    others = [token for token in range(vocab_size) if token != EOS]
    found = []
    for length in range(max_length):
        for body in itertools.product(others, repeat=length):
            whole = (*body, EOS)
            total = sum(log_probs(whole[:i])[token] for i, token in enumerate(whole))
            found.append((whole, total / penalty(length + 1, alpha)))
    return sorted(found, key=lambda item: -item[1])
