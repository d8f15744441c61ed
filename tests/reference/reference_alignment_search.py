"""Algorithm 1 of Alkhouli et al. (2018) for one sentence, with lists of Python tuples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference_beam_search import EOS, penalty


class Found(NamedTuple):
    """A hypothesis: its tokens, its score, the position of each, and how many were evaluated."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0
    places: tuple[int, ...] = ()
    evaluated: tuple[int, ...] = ()


# From (tokens so far, their positions) to the log-probabilities of the next position.
Places = Callable[[Sequence[Found]], Sequence[Sequence[float]]]
# From (tokens so far, their positions, the next one) to the log-probabilities of the next token.
Words = Callable[[Sequence[tuple[Found, int]]], Sequence[Sequence[float]]]


def search(
    places_of: Places,
    words_of: Words,
    *,
    max_length: int,
    beam_size: int,
    alpha: float,
    threshold: float,
    weight: float,
    min_length: int = 0,
    choose: Callable[[list[Found]], list[Found]] | None = None,
) -> list[Found]:
    """Return hypotheses, best first; without a finished one, the unfinished.

    Args:
        places_of: the alignment model.
        words_of: the lexical model.
        max_length: most tokens, EOS included.
        beam_size: K.
        alpha: exponent of the length penalty.
        threshold: positions with a lower probability are pruned, unless all are.
        weight: of the alignment model's log-probabilities.
        min_length: fewest tokens before EOS; the others then share its probability.
        choose: maps the hypotheses that may go on, best first, to K of them; None: the best.
    """
    alive, finished = [Found()], []
    for time in range(max_length):
        rows = places_of(alive)
        pairs = []
        for hypothesis, row in zip(alive, rows, strict=True):
            kept = [place for place, score in enumerate(row) if math.exp(score) >= threshold]
            kept = kept or list(range(len(row)))
            for place in kept:
                total = hypothesis.score + weight * row[place]
                pairs.append((hypothesis, place, total, len(kept)))
        candidates = []
        words = words_of([(hypothesis, place) for hypothesis, place, _, _ in pairs])
        for (hypothesis, place, total, count), row in zip(pairs, words, strict=True):
            scores = list(row)
            if time < min_length:
                rest = math.log(-math.expm1(scores[EOS]))
                scores = [s - rest for s in scores]
                scores[EOS] = -math.inf
            candidates += [
                Found(
                    (*hypothesis.tokens, token),
                    total + score,
                    (*hypothesis.places, place),
                    (*hypothesis.evaluated, count),
                )
                for token, score in enumerate(scores)
                if score > -math.inf
            ]
        candidates.sort(key=lambda found: -found.score)
        alive = [found for found in candidates if found.tokens[-1] != EOS]
        alive = sorted(choose(alive), key=lambda f: -f.score) if choose else alive[:beam_size]
        ended = [found for found in candidates if found.tokens[-1] == EOS][:beam_size]
        finished += [f._replace(score=f.score / penalty(time + 1, alpha)) for f in ended]
        finished = sorted(finished, key=lambda found: -found.score)[:beam_size]
        if not alive:
            break
        bound = alive[0].score / penalty(max_length, alpha)
        if len(finished) == beam_size and finished[-1].score > bound:
            break
    return finished or alive
