"""Candidates dealt to banks: dynamic beam allocation with fixed shapes.

Shapes: B sentences, M candidates, C chosen.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def deal(scores: Any, banks: Any, *, number_of_banks: int, count: int) -> Any:
    """Return (B, C) int32: the candidates that are chosen from all banks in turn.

    Hu et al. (2019), Section 3: the best of each bank come first, the highest bank before the
    others, then the second best of each, and so on. Post and Vilar (2018) give each bank a fixed
    share and what it does not use to others; choosing in turn needs no counts.

    Args:
        scores: (B, M) float32; -inf: not a candidate, chosen last.
        banks: (B, M) int32.
        number_of_banks: they are numbered from 0.
        count: C, at most M.
    """
    total = scores.shape[1]
    scores, order = ops.top_k(scores, total)
    order = ops.cast(order, "int32")
    banks = ops.take_along_axis(banks, order, axis=1)
    real = scores > -float("inf")
    inside = banks[..., None] == ops.arange(number_of_banks, dtype="int32")
    inside = ops.cast(ops.logical_and(inside, real[..., None]), "int32")  # (B, M, banks)
    rank = ops.sum(ops.cumsum(inside, axis=1) * inside, axis=-1) - 1
    turn = rank * number_of_banks + (number_of_banks - 1 - banks)
    turn = ops.where(real, turn, total * number_of_banks + ops.arange(total, dtype="int32"))
    _, chosen = ops.top_k(-turn, count)
    return ops.take_along_axis(order, ops.cast(chosen, "int32"), axis=1)
