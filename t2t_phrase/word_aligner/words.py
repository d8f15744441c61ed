"""The form of a word that the aligner counts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def compared(word: str, *, lowercase: bool) -> str:
    """Return a word without the punctuation at its ends, unless it consists of punctuation only.

    So "house." and "house" are the same word in text that is not tokenised.

    Args:
        word: a word without blanks.
        lowercase: whether case is ignored.
    """
    first, last = 0, len(word)
    while first < last and _is_punctuation(word[first]):
        first += 1
    while first < last and _is_punctuation(word[last - 1]):
        last -= 1
    kept = word[first:last] or word
    return kept.lower() if lowercase else kept


def numbered(sentences: Sequence[Sequence[str]], *, lowercase: bool) -> list[list[int]]:
    """Return each word as a number, counted from 0 in the order of first appearance."""
    spelt: dict[str, str] = {}
    numbers: dict[str, int] = {}
    found = []
    for sentence in sentences:
        row = []
        for word in sentence:
            if word not in spelt:
                spelt[word] = compared(word, lowercase=lowercase)
            row.append(numbers.setdefault(spelt[word], len(numbers)))
        found.append(row)
    return found


def _is_punctuation(char: str) -> bool:
    # Vowel signs and tone marks are neither letters nor punctuation.
    return unicodedata.category(char)[0] in "PS"
