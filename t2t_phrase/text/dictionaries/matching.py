"""The occurrences of a dictionary's phrases in a sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from t2t_phrase.text.dictionaries.reader import Entry

# Punctuation that is part of a word: without it, the word is a different one.
OF_WORDS = "#%&@*/\\"
# Maximum number of punctuation characters beside a phrase within a word.
MOST_PUNCTUATION = 8


class Match(NamedTuple):
    """An occurrence of a phrase.

    Attributes:
        start: number of its first word.
        end: number of the word after its last one.
        skipped: number of characters of the first word before the phrase.
        left: number of characters of the last word after the phrase.
        entry: the entry whose source occurs.
    """

    start: int
    end: int
    skipped: int
    left: int
    entry: Entry


class Phrases:
    """Entries indexed by their source, for fast look-up.

    Args:
        entries: entries with different sources.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = {tuple(entry.source.split()): entry for entry in entries}
        self._lengths: dict[str, set[int]] = {}
        for words in self._entries:
            self._lengths.setdefault(words[0], set()).add(len(words))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def at(self, words: Sequence[str], start: int) -> Iterator[Match]:
        """Yield the occurrences that begin in one word of a sentence."""
        first = words[start]
        for skipped in _cuts(first):
            cut = first[skipped:]
            # A phrase of one word may end within the word.
            for left in _cuts(cut[::-1]):
                word = cut[: len(cut) - left]
                entry = self._entries.get((word,))
                if entry is not None:
                    yield Match(start, start + 1, skipped, left, entry)
            for length in self._lengths.get(cut, ()):
                if length > 1 and start + length <= len(words):
                    yield from self._ending(words, start, length, skipped)

    def _ending(
        self, words: Sequence[str], start: int, length: int, skipped: int
    ) -> Iterator[Match]:
        end = start + length
        last = words[end - 1]
        for left in _cuts(last[::-1]):
            inner = (words[start][skipped:], *words[start + 1 : end - 1])
            entry = self._entries.get((*inner, last[: len(last) - left]))
            if entry is not None:
                yield Match(start, end, skipped, left, entry)


def find_matches(words: Sequence[str], *dictionaries: Phrases) -> list[Match]:
    """Return the occurrences in a sentence from left to right, without overlaps.

    A phrase occurs where its words match those of the sentence, including case. Only punctuation
    may precede it in its first word and follow it in its last one: at most MOST_PUNCTUATION
    characters, none of OF_WORDS. Phrases with more characters take precedence, then those further
    left; an occurrence that shares a word with one that takes precedence does not count.

    Args:
        words: the words of the sentence.
        *dictionaries: the dictionaries; of several with the same source, the first one counts.
    """
    found: dict[tuple[int, int, int, int], Match] = {}
    for phrases in dictionaries:
        if not len(phrases):
            continue
        for start in range(len(words)):
            for match in phrases.at(words, start):
                found.setdefault(match[:4], match)
    by_length = sorted(found.values(), key=lambda m: (-len(m.entry.source), m.start, m.skipped))
    taken: set[int] = set()
    kept = []
    for match in by_length:
        own = range(match.start, match.end)
        if taken.isdisjoint(own):
            taken.update(own)
            kept.append(match)
    return sorted(kept, key=lambda match: match.start)


def is_edge(char: str) -> bool:
    """Return whether a character may stand beside a phrase within a word."""
    return unicodedata.category(char).startswith("P") and char not in OF_WORDS


def _cuts(word: str) -> Iterator[int]:
    """Yield each number of characters that may be left out at the beginning of a word."""
    yield 0
    for number, char in enumerate(word[:-1][:MOST_PUNCTUATION], start=1):
        if not is_edge(char):
            return
        yield number
