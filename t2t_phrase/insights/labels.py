"""Labels for the tokens, n-grams and segments of a sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.layers.attention.layout import Units
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.vocabularies import Encoder

START = "<start>"
END = "<EOS>"
CONTINUES = "##"
BOUNDARY = "▁"
# What decoding makes of a byte that is not a character.
_INCOMPLETE = "\ufffd"


class Token(NamedTuple):
    """A token as it is shown.

    Attributes:
        text: its text.
        continues: whether it continues the word before it.
        word: the word that begins with it, where the texts of its tokens do not spell it, because
            they are bytes of one character; "": they do.
    """

    text: str
    continues: bool = False
    word: str = ""


def tokens_of(ids: Sequence[int], encoder: Encoder) -> list[Token]:
    """Return a token for each id of a sentence; `ids` must not contain padding."""
    tokens: list[Token] = []
    for place, token in enumerate(ids):
        if token == EOS_ID:
            tokens.append(Token(END))
            continue
        # A piece that is only a word boundary has no text.
        text = _visible(encoder.decode([token])) or BOUNDARY
        before = ids[place - 1] if place else EOS_ID
        continues = False
        if before != EOS_ID:
            # The texts of two tokens do not always add up: bytes may be one character.
            joined = encoder.decode([before, token])
            continues = not joined.startswith(encoder.decode([before]) + " ")
        tokens.append(Token(text, continues))
    starts = [place for place, token in enumerate(tokens) if not token.continues]
    for first, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        if any(_INCOMPLETE in token.text for token in tokens[first:end]):
            word = _visible(encoder.decode(ids[first:end]))
            tokens[first] = tokens[first]._replace(word=word)
    return tokens


def ngram_labels(tokens: Sequence[Token], order: int) -> list[str]:
    """Return the label of the n-gram that ends at each token.

    Words are written as in the sentence; a label that begins inside a word starts with ##. An
    n-gram that begins before the sentence is labelled by its tokens within the sentence.
    """
    return [_spelled(tokens[max(0, end - order + 1) : end + 1]) for end in range(len(tokens))]


def segment_labels(tokens: Sequence[Token], membership: np.ndarray) -> list[str]:
    """Return the label of each segment of a partition that has tokens, see `ngram_labels`.

    Args:
        tokens: the S tokens of a sentence.
        membership: (P, S) bool, True where segment p contains token s.
    """
    return [
        _spelled([token for token, inside in zip(tokens, row, strict=True) if inside])
        for row in membership
        if row.any()
    ]


def segment_spans(membership: np.ndarray) -> list[tuple[int, int]]:
    """Return the first and the last token of each segment of a partition that has tokens.

    Args:
        membership: (P, S) bool, True where segment p contains token s.
    """
    return [(int(row.argmax()), int(np.flatnonzero(row)[-1])) for row in membership if row.any()]


def kind_of(units: Units) -> str:
    """Return the name of rows or columns of these units, such as "tokens" or "2-grams"."""
    if units.partition:
        return units.partition
    return "tokens" if units.order == 1 else f"{units.order}-grams"


def _visible(text: str) -> str:
    """Return the text with control characters as SentencePiece writes bytes, such as <0x04>."""
    return "".join(
        f"<0x{ord(char):02X}>" if unicodedata.category(char) == "Cc" else char for char in text
    )


def _spelled(tokens: Sequence[Token]) -> str:
    words: list[Token] = []
    for token in tokens:
        if token.continues and words and words[-1].text == BOUNDARY:
            # The boundary is a separate piece; the word is written like any other.
            token = Token(token.text, words.pop().continues)
        words.append(token)
    label = CONTINUES if words[0].continues else ""
    for place, token in enumerate(words):
        label += token.text if token.continues or not place else f" {token.text}"
    return label
