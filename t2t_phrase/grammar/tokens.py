"""Tokens of natural text and back.

A token is a run of characters without white space, except that `. , ? !` and the possessive `'s`
stand alone and `cannot` is two tokens, `can` and `not`. Hyphens and umlauts split nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PUNCTUATION = frozenset(".,?!")
_TOKEN = re.compile(r"[Cc]an(?=not\b)|'s\b|[.,?!]|[^\s.,?!']+")


def tokenize(text: str) -> list[str]:
    """Split a sentence into tokens."""
    return _TOKEN.findall(text)


def detokenize(tokens: Sequence[str]) -> str:
    """Join tokens into natural text; `tokenize` gives the tokens back."""
    text = ""
    before = ""
    for token in tokens:
        glued = token in PUNCTUATION or token == "'s"
        glued = glued or (token == "not" and before.lower() == "can")
        text += token if glued or not text else " " + token
        before = token
    return text
