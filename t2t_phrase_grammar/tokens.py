"""Conversion between natural text and tokens.

Tokens are separated by whitespace. In addition, `. , ? !` and the possessive `'s` are tokens of
their own, and `cannot` is split into `can` and `not`. Hyphenated words are not split.
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
    """Join tokens into natural text; the inverse of `tokenize`."""
    text = ""
    before = ""
    for token in tokens:
        glued = token in PUNCTUATION or token == "'s"
        glued = glued or (token == "not" and before.lower() == "can")
        text += token if glued or not text else " " + token
        before = token
    return text
