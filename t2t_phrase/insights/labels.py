"""What a picture calls the tokens and phrases of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.vocabularies import Encoder

START = "<start>"
END = "<EOS>"
CONTINUES = "##"


class Token(NamedTuple):
    """A token's text, and whether it continues the word before it."""

    text: str
    continues: bool = False


def tokens_of(ids: Sequence[int], encoder: Encoder) -> list[Token]:
    """Return the tokens of a sentence's ids, without padding."""
    tokens: list[Token] = []
    for place, token in enumerate(ids):
        if token == EOS_ID:
            tokens.append(Token(END))
            continue
        # A piece that stands for a blank alone has no text.
        text = encoder.decode([token]) or "▁"
        before = ids[place - 1] if place else EOS_ID
        joined = encoder.decode([before, token]) if before != EOS_ID else None
        tokens.append(Token(text, joined == encoder.decode([before]) + encoder.decode([token])))
    return tokens


def phrase_labels(tokens: Sequence[Token], order: int) -> list[str]:
    """Return the label of the phrase that ends at each token.

    Words are written as in the sentence; what begins inside a word is marked by ##. A phrase that
    would begin before the sentence is called by what there is of it.
    """
    return [_spelled(tokens[max(0, end - order + 1) : end + 1]) for end in range(len(tokens))]


def segment_labels(tokens: Sequence[Token], membership: np.ndarray) -> list[str]:
    """Return the label of every phrase of a partition; see `phrase_labels`.

    Args:
        tokens: S of a sentence.
        membership: (P, S) bool, True where phrase p holds token s; empty phrases at the end.
    """
    return [
        _spelled([token for token, inside in zip(tokens, row, strict=True) if inside])
        for row in membership
        if row.any()
    ]


def _spelled(tokens: Sequence[Token]) -> str:
    first, *rest = tokens
    label = (CONTINUES if first.continues else "") + first.text
    for token in rest:
        label += token.text if token.continues else f" {token.text}"
    return label
