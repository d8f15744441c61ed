"""Dictionary-guided decoding for one sentence, with Python lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Prefix = tuple[int, ...]


def forced_token(
    prefix: Prefix,
    position: Callable[[Prefix], int],
    starts: Sequence[int],
    entries: Mapping[int, Sequence[int]],
) -> tuple[int | None, int]:
    """Return the token that must follow a prefix, and the number of the entry that begins with it.

    Args:
        prefix: tokens that were allowed to follow each other.
        position: the source position that the token after a prefix is aligned with.
        starts: for each source position the number of the entry whose phrase begins there, or 0.
        entries: their tokens.
    """
    used: set[int] = set()
    waiting: list[int] = []
    for end in range(len(prefix) + 1):
        begun = 0
        if not waiting:
            number = starts[position(prefix[:end])]
            if number and number not in used:
                used.add(number)
                waiting, begun = list(entries[number]), number
        if end == len(prefix):
            return (waiting[0] if waiting else None), begun
        if waiting:
            assert waiting.pop(0) == prefix[end]
    raise AssertionError


def guided(
    log_probs: Callable[[Prefix], Sequence[float]],
    position: Callable[[Prefix], int],
    starts: Sequence[int],
    entries: Mapping[int, Sequence[int]],
) -> Callable[[Prefix], list[float]]:
    """Return the log-probabilities of the next token: all but a forced one cost infinitely much.

    Arguments as for `forced_token`.
    """

    def masked(prefix: Prefix) -> list[float]:
        token, _ = forced_token(prefix, position, starts, entries)
        values = list(log_probs(prefix))
        return [v if token in (None, i) else -math.inf for i, v in enumerate(values)]

    return masked
