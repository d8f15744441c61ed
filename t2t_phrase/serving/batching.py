"""Chooses the sentences that are searched together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def choose_batch(
    lengths: Sequence[int],
    *,
    most_rows: int,
    most_bytes: int,
    overhead: float,
    must: int = 0,
) -> list[int]:
    """Return the numbers of sentences of similar length, from the shortest to the longest.

    A batch takes as many steps as its longest sentence, and each step has an overhead whatever the
    number of rows, so that up to a constant factor

        time = longest (overhead + rows)

    Of all batches that contain the sentence `must`, the one with the most bytes of text per unit of
    time is chosen.

    Args:
        lengths: the length of each waiting sentence, in bytes.
        most_rows: the most sentences in a batch.
        most_bytes: the most bytes in a batch, each sentence counted as long as the longest; a
            sentence alone may have more.
        overhead: the overhead of a step, in multiples of the time of a row.
        must: the number of the sentence that must be in the batch.
    """
    order = sorted(range(len(lengths)), key=lambda number: (lengths[number], number))
    place = order.index(must)
    # A sentence without text also takes a step.
    ordered = np.maximum([lengths[number] for number in order], 1)
    sums = np.concatenate([[0], np.cumsum(ordered)])
    # With a given sentence as the longest, the best others come right before it.
    last = np.arange(place, len(order))[:, None]
    first = last - np.arange(min(most_rows, len(order)))[None]
    inside = (first <= place) & (place <= last)
    rows = last - first + 1 + ~inside
    longest = ordered[last]
    allowed = (first >= 0) & (rows <= most_rows) & ((rows == 1) | (rows * longest <= most_bytes))
    text = sums[last + 1] - sums[np.maximum(first, 0)] + np.where(inside, 0, ordered[place])
    speed = np.where(allowed, text / longest / (overhead + rows), 0)
    best = np.unravel_index(np.argmax(speed), speed.shape)
    chosen = range(int(first[best]), int(last[best[0], 0]) + 1)
    return [order[number] for number in sorted({place, *chosen})]
