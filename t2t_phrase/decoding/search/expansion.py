"""The interface that beam search uses to continue hypotheses.

Shapes: B sentences, K beams, C candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Alive(NamedTuple):
    """The state of hypotheses that have not ended, as far as their continuations depend on it.

    Attributes:
        log_probs: (B, K) float32. -inf: there is no such hypothesis, as in all beams but the first
            at the start.
        tokens: (B, K) int32, the last token of each; 0 at the start.
        notes: (B, K, ...) the last notes of each, by name; at the start their padding.
        done: (B,) bool, the sentences whose result is certain; their continuations are not read.
    """

    log_probs: Any
    tokens: Any
    notes: dict[str, Any]
    done: Any


class Candidates(NamedTuple):
    """Hypotheses that are one token longer, in any order.

    C is at least K. A search keeps the K best that have not ended and, among those that have, the
    K best so far; so its result is exact if these are among the candidates. Where fewer than K can
    continue, the others have log-probability -inf: they and their continuations are never returned
    as translations. A sentence without any hypothesis that can continue is done.

    Attributes:
        log_probs: (B, C) float32, of all tokens so far.
        parents: (B, C) int32, the beam that each continues.
        tokens: (B, C) int32.
        ended: (B, C) bool, whether the token is the last one.
        notes: (B, C, ...) any other facts to remember about the token, by name.
        penalties: (B, C) float32, at most 0, added to the score of those that end, after the length
            penalty; None: there are none.
    """

    log_probs: Any
    parents: Any
    tokens: Any
    ended: Any
    notes: dict[str, Any]
    penalties: Any | None = None


Expand = Callable[[Alive, Any, Any], tuple[Candidates, Any]]


class Expansion(NamedTuple):
    """Continues the hypotheses of a search.

    Attributes:
        expand: maps (`Alive`, time, cache) to (`Candidates`, cache). It is traced once, so it must
            use `keras.ops`; its results for a sentence must not depend on other sentences.
        cache: nested tensors for the first call of `expand`, of the same shapes in every step.
        reorder: maps (cache, parents (B, K) int32) to the cache of the beams that continue them.
        notes: for each note of the candidates, a number or tensor of its shape (...) and type,
            which pads the note after the end and is its value before the first token.
    """

    expand: Expand
    cache: Any
    reorder: Callable[[Any, Any], Any]
    notes: Mapping[str, Any]
