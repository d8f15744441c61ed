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
