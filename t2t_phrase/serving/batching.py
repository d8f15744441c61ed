"""Chooses the sentences that are searched together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# The most batches that are compared, so that a choice takes milliseconds. All batches of at most 64
# sentences are, of 2,000 sentences that wait.
_MOST_BATCHES = 128_000


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
    time is chosen; of thousands of sentences, only some are considered as the longest.

    Args:
        lengths: the length of each waiting sentence, in bytes.
        most_rows: the most sentences in a batch.
        most_bytes: the most bytes in a batch, each sentence counted as long as the longest; a
            sentence alone may have more.
        overhead: the overhead of a step, in multiples of the time of a row.
        must: the number of the sentence that must be in the batch.
    """
    order = np.argsort(lengths, kind="stable")
    place = int(np.flatnonzero(order == must)[0])
    # A sentence without text also takes a step.
    ordered = np.maximum(np.asarray(lengths)[order], 1)
    sums = np.concatenate([[0], np.cumsum(ordered)])
    # With a given sentence as the longest, the best others come right before it.
    most_rows = min(most_rows, len(order))
    count = min(len(order) - place, max(_MOST_BATCHES // most_rows, 2))
    last = np.linspace(place, len(order) - 1, count).astype(int)[:, None]
    first = last - np.arange(most_rows)[None]
    inside = (first <= place) & (place <= last)
    rows = last - first + 1 + ~inside
    longest = ordered[last]
    allowed = (first >= 0) & (rows <= most_rows) & ((rows == 1) | (rows * longest <= most_bytes))
    text = sums[last + 1] - sums[np.maximum(first, 0)] + np.where(inside, 0, ordered[place])
    speed = np.where(allowed, text / longest / (overhead + rows), 0)
    best = np.unravel_index(np.argmax(speed), speed.shape)
    chosen = range(int(first[best]), int(last[best[0], 0]) + 1)
    return [int(order[number]) for number in sorted({place, *chosen})]
