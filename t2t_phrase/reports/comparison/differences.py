"""The words of a translation that do not match another text."""

from __future__ import annotations

import collections
import difflib
from collections.abc import Sequence

# Texts with more pairs of equal words, one of each text, would take seconds to compare word by
# word; they are compared as a whole.
MOST_PAIRS = 50_000


def differing_words(text: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of words in `text` outside the longest matching blocks of both texts.

    Args:
        text: words.
        other: words.

    Returns:
        (first, end) of each range, ascending; the words between them are also in `other`, in the
        same order.
    """
    counts = collections.Counter(other)
    if sum(counts[word] for word in text) > MOST_PAIRS:
        return [] if list(text) == list(other) else [(0, len(text))]
    matcher = difflib.SequenceMatcher(None, other, text, autojunk=False)
    return [
        (first, end)
        for operation, _, _, first, end in matcher.get_opcodes()
        if operation in ("replace", "insert")
    ]
