"""The texts that tokens spell, and the tokens that can spell a given text.

Texts are bytes of UTF-8 with a blank before each word, including the first.

Shapes: V vocabulary size.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID
from t2t_phrase.text.dictionaries.matching import is_edge
from t2t_phrase.text.encoders import SpellingEncoder

# Greater than any byte of a text, because UTF-8 does not use it.
_GREATEST = b"\xff"


class Edge(NamedTuple):
    """A token that spells a part of a text.

    Attributes:
        start: where the part begins, in bytes.
        end: where it ends.
        token: its id.
    """

    start: int
    end: int
    token: int


class VocabularyTables(NamedTuple):
    """Tables of the target vocabulary that searches read, (V,) each.

    Attributes:
        begins_word: bool, whether the preceding word is complete when this token follows: the token
            begins with a blank or with punctuation, or is EOS.
        ends_word: bool, whether a word may begin after the token without a blank: the token ends in
            a blank or in punctuation, or is the padding that precedes all text.
        ranks: int32, the rank of the token's text in the order of bytes; -1 for special tokens.
    """

    begins_word: Any
    ends_word: Any
    ranks: Any


class TokenTexts:
    """The texts of all tokens of a vocabulary, for fast look-up.

    Args:
        encoder: encoder of the vocabulary.
    """

    def __init__(self, encoder: SpellingEncoder) -> None:
        self.texts = encoder.token_bytes()
        self._tokens: dict[bytes, list[int]] = {}
        for token, text in enumerate(self.texts):
            if text:
                self._tokens.setdefault(text, []).append(token)
        self._longest = max(map(len, self.texts))
        self._ordered = sorted(text for text in self.texts if text)

    @functools.cached_property
    def tables(self) -> VocabularyTables:
        """The tables of the vocabulary."""
        begins = [_is_apart(first_char(text)) for text in self.texts]
        ends = [_is_apart(last_char(text)) for text in self.texts]
        for table, tokens in ((begins, (EOS_ID, UNK_ID)), (ends, (PAD_ID, UNK_ID))):
            for token in tokens:
                table[token] = True
        order = sorted((text, token) for token, text in enumerate(self.texts) if text)
        ranks = np.full(len(self.texts), -1, "int32")
        for rank, (_, token) in enumerate(order):
            ranks[token] = rank
        return VocabularyTables(np.array(begins), np.array(ends), ranks)

    def tokens_of(self, text: bytes) -> Sequence[int]:
        """Return the tokens that spell exactly this text."""
        return self._tokens.get(text, ())

    def edges(self, text: bytes) -> list[Edge]:
        """Return all tokens that spell parts of a text, in the order of the parts."""
        places = range(len(text))
        return [
            Edge(start, end, token)
            for start in places
            for end in range(start + 1, min(start + self._longest, len(text)) + 1)
            for token in self.tokens_of(text[start:end])
        ]

    def ranks_beginning_with(self, text: bytes) -> tuple[int, int]:
        """Return the first rank, and the one after the last, of tokens that begin with `text`."""
        return (
            bisect.bisect_left(self._ordered, text),
            bisect.bisect_left(self._ordered, text + _GREATEST),
        )

    def prefixes(self) -> dict[bytes, tuple[int, int]]:
        """Return `ranks_beginning_with` of every prefix of a token's text."""
        found: dict[bytes, tuple[int, int]] = {}
        for rank, text in enumerate(self._ordered):
            for end in range(1, len(text) + 1):
                first, _ = found.get(text[:end], (rank, rank))
                found[text[:end]] = (first, rank + 1)
        return found


def spelt(text: str) -> bytes:
    """Return the words of a text as tokens spell them, with a blank before each."""
    return "".join(f" {word}" for word in text.split()).encode()


def first_char(text: bytes) -> str:
    """Return the first character of a text, or "" if there is none or only a part of one."""
    return text[:4].decode("utf-8", "ignore")[:1] if text and text[0] & 0xC0 != 0x80 else ""


def last_char(text: bytes) -> str:
    """Return the last character of a text, or "" if there is none or only a part of one."""
    start = len(text) - 1
    while start > 0 and text[start] & 0xC0 == 0x80:
        start -= 1
    try:
        return text[max(start, 0) :].decode()
    except UnicodeDecodeError:
        return ""


def without_dead_ends(edges: Sequence[Edge], ends: set[int]) -> list[Edge]:
    """Return the edges from which one of the places `ends` can be reached."""
    alive = set(ends)
    for start, same in itertools.groupby(sorted(edges, reverse=True), key=lambda edge: edge.start):
        if any(edge.end in alive for edge in same):
            alive.add(start)
    return [edge for edge in edges if edge.end in alive]


def _is_apart(char: str) -> bool:
    return char == " " or (char != "" and is_edge(char))
