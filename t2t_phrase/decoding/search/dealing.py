"""Candidates dealt from banks: dynamic beam allocation with fixed shapes.

Shapes: B sentences, M candidates, C chosen.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def deal(scores: Any, banks: Any, *, number_of_banks: Any, count: int, by_score: int) -> Any:
    """Return (B, C) int32: the candidates that are chosen, in this order.

    The best of all come first, and then candidates from all banks in turn, as in Hu et al. (2019):
    the best of each bank, from the highest bank to the lowest, then the second best of each, and so
    on. Post and Vilar (2018) give each bank an equal share, and other banks the part that it does
    not use; choosing in turn needs no counts.

    Differs from the papers: some candidates are chosen by their scores alone. Otherwise, in a small
    beam, the highest banks, whose hypotheses begin with all terms, would leave no room for others.

    Args:
        scores: (B, M) float32; -inf: not a candidate, chosen last.
        banks: (B, M) int32.
        number_of_banks: number of banks; banks are numbered from 0.
        count: C, at most M.
        by_score: the number of candidates that are chosen by their scores alone.
    """
    total = ops.shape(scores)[1]
    order = ops.cast(ops.argsort(-scores, axis=1), "int32")
    scores, banks = (ops.take_along_axis(x, order, axis=1) for x in (scores, banks))
    real = scores > -float("inf")
    inside = banks[..., None] == ops.arange(number_of_banks, dtype="int32")
    inside = ops.cast(ops.logical_and(inside, real[..., None]), "int32")  # (B, M, banks)
    rank = ops.sum(ops.cumsum(inside, axis=1) * inside, axis=-1) - 1
    turn = rank * number_of_banks + (number_of_banks - 1 - banks)
    place = ops.arange(total, dtype="int32")
    turn = ops.where(place < by_score, place - total, turn)
    turn = ops.where(real, turn, total * number_of_banks + place)
    _, chosen = ops.top_k(-turn, count)
    return ops.take_along_axis(order, ops.cast(chosen, "int32"), axis=1)
