"""References, and translations of them in which some words are wrong."""

from __future__ import annotations

import random


class SpoiledText:
    """Draws sentences of 12 letters, and copies of them with errors.

    Attributes:
        references: the sentences.
    """

    def __init__(self, seed: int, sentences: int = 40) -> None:
        self._draw = random.Random(seed)
        self.references = [" ".join(self._draw.choices("abcdefgh", k=12)) for _ in range(sentences)]

    def copy(self, share: float) -> list[str]:
        """Return the references with about this share of their words replaced by x."""
        return [
            " ".join(word if self._draw.random() > share else "x" for word in line.split())
            for line in self.references
        ]


# Options of scores, without which no word of `disguised` text is found.
REVEALING = {"tokenize": "intl", "lowercase": True}


def disguised(lines: list[str], *, upper: bool = True) -> list[str]:
    """Return lines whose words are joined by hyphens, and in upper case."""
    joined = ["-".join(line.split()) for line in lines]
    return [line.upper() for line in joined] if upper else joined


def revealed(lines: list[str]) -> list[str]:
    """Return the tokens of `disguised` lines, separated by blanks and in lower case."""
    return [" - ".join(line.split()) for line in lines]
