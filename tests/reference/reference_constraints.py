"""Dynamic beam allocation, prefixes and forbidden phrases, for one sentence, with Python lists."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence

EOS = 1

Prefix = tuple[int, ...]
LogProbs = Callable[[Prefix], Sequence[float]]
# The alternatives of each term.
Terms = Sequence[Sequence[Prefix]]


@dataclasses.dataclass
class State:
    """Which terms a hypothesis has.

    Attributes:
        met: their numbers.
        free: the place from which on tokens belong to no term.
        last: the term that the last token completes; None: none.
    """

    met: list[int] = dataclasses.field(default_factory=list)
    free: int = 0
    last: int | None = None


def written(tokens: Prefix, alternative: Prefix) -> int:
    """Return how many tokens of an alternative the last tokens are, the whole one included."""
    for size in range(len(alternative), 0, -1):
        if tokens[-size:] == alternative[:size] and len(tokens) >= size:
            return size
    return 0


def gain(tokens: Prefix, alternatives: Sequence[Prefix]) -> int:
    """Return how many tokens of the shortest alternative are saved by what is written."""
    shortest = min(map(len, alternatives))
    rests = [len(a) - written(tokens, a) for a in alternatives if written(tokens, a)]
    return max(0, shortest - min(rests, default=shortest))


def state_of(tokens: Prefix, terms: Terms, begins_word: Sequence[bool]) -> State:
    """Return the state after some tokens, by its definition."""
    state = State()
    for end in range(1, len(tokens) + 1):
        if state.last is not None:
            if begins_word[tokens[end - 1]]:
                state.free = end - 1
            else:
                state.met.remove(state.last)
        state.last = None
        own = tokens[state.free : end]
        unmet = [number for number in range(len(terms)) if number not in state.met]
        complete = {
            number: min(map(len, terms[number]))
            for number in unmet
            if any(own[-len(a) :] == a for a in terms[number])
        }
        if complete:
            best = max(complete.values())
            others = [gain(own, terms[n]) for n in unmet if n not in complete]
            if best >= max(others, default=0):
                state.last = next(n for n in unmet if complete.get(n) == best)
                state.met.append(state.last)
    return state


def left(tokens: Prefix, terms: Terms, begins_word: Sequence[bool]) -> int:
    """Return the fewest tokens that the unmet terms still need."""
    state = state_of(tokens, terms, begins_word)
    unmet = [number for number in range(len(terms)) if number not in state.met]
    total = sum(min(map(len, terms[number])) for number in unmet)
    if state.last is not None:
        return total
    return total - max((gain(tokens[state.free :], terms[n]) for n in unmet), default=0)


def next_tokens(tokens: Prefix, terms: Terms, begins_word: Sequence[bool]) -> set[int]:
    """Return the tokens that begin an unmet term or go on with it."""
    state = state_of(tokens, terms, begins_word)
    own = tokens[state.free :]
    found = set()
    for number, alternatives in enumerate(terms):
        if number not in state.met:
            for alternative in alternatives:
                found.add(alternative[0])
                size = written(own, alternative)
                if 0 < size < len(alternative):
                    found.add(alternative[size])
    return found


def deal(candidates: Sequence[tuple[int, float]], count: int, by_score: int) -> list[int]:
    """Return the chosen candidates (bank, score): some by score, others from banks in turn."""
    banks: dict[int, list[int]] = {}
    ordered = sorted(range(len(candidates)), key=lambda n: -candidates[n][1])
    ordered = [number for number in ordered if candidates[number][1] > -math.inf]
    for number in ordered:
        banks.setdefault(candidates[number][0], []).append(number)
    chosen = ordered[:by_score]
    while len(chosen) < count and any(banks.values()):
        for bank in sorted(banks, reverse=True):
            if banks[bank] and len(chosen) < count:
                number = banks[bank].pop(0)
                if number not in chosen:
                    chosen.append(number)
    return chosen


def search(
    log_probs: LogProbs,
    terms: Terms,
    begins_word: Sequence[bool],
    *,
    max_length: int,
    beam_size: int,
    alpha: float,
    allowed: Callable[[Prefix], Collection[int] | None] = lambda prefix: None,
    beginning: Callable[[Prefix], bool] = lambda prefix: False,
) -> list[tuple[Prefix, float]]:
    """Return hypotheses and scores, best first; without a finished one, the unfinished.

    Args:
        log_probs: log-probabilities of every token after a prefix.
        terms: what every hypothesis must have.
        begins_word: of each token, whether the word before it is complete.
        max_length: most tokens, EOS included.
        beam_size: K.
        alpha: exponent of the length penalty.
        allowed: the tokens that may follow a prefix; None: all.
        beginning: whether the next token is that of a given beginning.
    """
    total = sum(min(map(len, alternatives)) for alternatives in terms)
    alive: list[tuple[Prefix, float]] = [((), 0.0)]
    finished: list[tuple[Prefix, float]] = []
    for time in range(max_length):
        candidates = []
        for prefix, score in alive:
            values = list(log_probs(prefix))
            may, before = allowed(prefix), left(prefix, terms, begins_word)
            likeliest = sorted(
                (
                    t
                    for t in range(len(values))
                    if not (t == EOS and before) and (not may or t in may)
                ),
                key=lambda token: -values[token],
            )[: 2 * beam_size]
            more = next_tokens(prefix, terms, begins_word)
            more = {token for token in more if not may or token in may}
            ends = {EOS} if not before and (not may or EOS in may) else set()
            for token in {*likeliest, *more, *ends}:
                whole = (*prefix, token)
                after = left(whole, terms, begins_word)
                room = max_length - time
                fits = after == 0 or after + 2 <= room or after < before or beginning(prefix)
                if fits and values[token] > -math.inf:
                    candidates.append((whole, score + values[token], total - after))
        chosen = deal(
            [(bank, score) for _, score, bank in candidates], 2 * beam_size, beam_size // 2
        )
        kept = [candidates[number][:2] for number in chosen]
        alive = [c for c in kept if c[0][-1] != EOS][:beam_size]
        penalty = ((5 + time + 1) / 6) ** alpha
        ended = [(prefix, score / penalty) for prefix, score in kept if prefix[-1] == EOS]
        finished = sorted(finished + ended, key=lambda item: -item[1])[:beam_size]
        if not alive:
            break
        best = max(score for _, score in alive) / ((5 + max_length) / 6) ** alpha
        if len(finished) == beam_size and finished[-1][1] > best:
            break
    return finished or sorted(alive, key=lambda item: -item[1])
