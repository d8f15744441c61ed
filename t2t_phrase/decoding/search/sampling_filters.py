"""Filters of the tokens that may be drawn.

Shapes: B sentences, V vocabulary size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.ops.likeliest import likeliest


class Filters(NamedTuple):
    """The rules that exclude unlikely tokens.

    A token is drawn if no filter excludes it. All of them read the same probabilities, those after
    the temperature, so their order does not matter, and none excludes the likeliest token. Tokens
    that are as likely as one that is kept are kept, too.

    Attributes:
        keep_top_k: only the k likeliest are kept; 0: all.
        top_p: only the smallest set of likeliest tokens that together have this probability is kept
            (nucleus sampling, Holtzman et al., 2020); 1: all.
        epsilon: only tokens of at least this probability are kept (Hewitt et al., 2022); 0: all.
    """

    keep_top_k: int = 0
    top_p: float = 1.0
    epsilon: float = 0.0


NO_FILTERS = Filters()


def filters_of(hparams: DecodeHParams) -> Filters:
    """Return the filters that the options of decoding ask for."""
    return Filters(hparams.sampling_keep_top_k, hparams.sampling_top_p, hparams.sampling_epsilon)


def filtered(logits: Any, filters: Filters) -> Any:
    """Return logits (B, V) that exclude tokens that must not be drawn.

    Args:
        logits: (B, V) float32, divided by the temperature.
        filters: the filters to apply.
    """
    kept = logits
    if filters.keep_top_k:
        count = min(filters.keep_top_k, logits.shape[-1])
        kept = _at_least(kept, logits, likeliest(logits, count).logits[:, -1:])
    if filters.top_p < 1:
        ordered = ops.flip(ops.sort(logits, axis=-1), axis=-1)
        probabilities = ops.softmax(ordered, axis=-1)
        # A token is needed if those before it are not enough.
        before = ops.cumsum(probabilities, axis=-1) - probabilities
        needed = ops.sum(ops.cast(before < filters.top_p, "int32"), axis=-1, keepdims=True)
        least = ops.take_along_axis(ordered, ops.maximum(needed, 1) - 1, axis=-1)
        kept = _at_least(kept, logits, least)
    if filters.epsilon:
        least = ops.logsumexp(logits, axis=-1, keepdims=True) + math.log(filters.epsilon)
        kept = _at_least(kept, logits, ops.minimum(least, ops.max(logits, axis=-1, keepdims=True)))
    return kept


def _at_least(kept: Any, logits: Any, least: Any) -> Any:
    return ops.where(logits < least, -float("inf"), kept)
