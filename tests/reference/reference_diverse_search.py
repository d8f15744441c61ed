"""Diverse beam search for one sentence, with lists of Python tuples (Vijayakumar et al., 2018)."""

from __future__ import annotations

import collections
import math

from reference_beam_search import EOS, LogProbs, Prefix, penalty, without_early_end


def search(
    log_probs: LogProbs,
    *,
    max_length: int,
    beam_size: int,
    groups: int,
    strength: float,
    alpha: float,
    min_length: int = 0,
) -> list[tuple[Prefix, float]]:
    """Return the hypotheses and scores of all groups, best first."""
    own = beam_size // groups
    alive: list[list[tuple[Prefix, float]]] = [[((), 0.0)] for _ in range(groups)]
    finished: list[list[tuple[Prefix, float]]] = [[] for _ in range(groups)]
    done = [False] * groups
    for time in range(max_length):
        taken: collections.Counter[int] = collections.Counter()
        for group in range(groups):
            if done[group]:
                continue
            candidates = [
                ((*prefix, token), total + score, total + score - strength * taken[token])
                for prefix, total in alive[group]
                for token, score in enumerate(without_early_end(log_probs, prefix, min_length))
                if score > -math.inf
            ]
            candidates = sorted(candidates, key=lambda item: -item[2])[: 2 * own]
            taken.update(prefix[-1] for prefix, _, _ in candidates[:own])
            going = [(p, score) for p, score, _ in candidates if p[-1] != EOS][:own]
            alive[group] = sorted(going, key=lambda item: -item[1])
            ended = [(p, s / penalty(time + 1, alpha)) for p, s, _ in candidates if p[-1] == EOS]
            finished[group] = sorted(finished[group] + ended, key=lambda item: -item[1])[:own]
            if len(finished[group]) == own:
                best = alive[group][0][1] / penalty(max_length, alpha)
                done[group] = finished[group][-1][1] > best
    found = [item for group in finished for item in group]
    found = found or [item for group in alive for item in group]
    return sorted(found, key=lambda item: -item[1])
