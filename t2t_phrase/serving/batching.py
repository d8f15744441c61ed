"""Chooses the sentences that are searched together."""

from __future__ import annotations

from collections.abc import Sequence


def choose_batch(
    lengths: Sequence[int], *, most_rows: int, most_bytes: int, must: int = 0
) -> list[int]:
    """Return the numbers of sentences of similar length, from the shortest to the longest.

    A batch takes as long as its longest sentence. So, beginning with one sentence that must be
    part of it, the batch is extended by the sentence whose length is nearest.

    Args:
        lengths: of each sentence that waits, in bytes.
        most_rows: sentences of a batch.
        most_bytes: of a batch, each sentence counted as long as the longest; a sentence alone may
            have more.
        must: the number of the sentence that must be in the batch.
    """
    order = sorted(range(len(lengths)), key=lambda number: (lengths[number], number))
    first = last = order.index(must)
    length = lengths[must]
    while last - first + 1 < most_rows:
        rows = last - first + 2
        shorter = first > 0 and rows * lengths[order[last]] <= most_bytes
        longer = last + 1 < len(order) and rows * lengths[order[last + 1]] <= most_bytes
        if shorter and longer:
            shorter = length - lengths[order[first - 1]] <= lengths[order[last + 1]] - length
        elif not shorter and not longer:
            break
        if shorter:
            first -= 1
        else:
            last += 1
    return order[first : last + 1]
