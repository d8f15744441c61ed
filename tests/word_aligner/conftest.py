"""A tiny corpus of repeated words, and the keys of the aligner's table."""

import numpy as np
import pytest

from t2t_phrase.word_aligner.cells import make_cells
from t2t_phrase.word_aligner.words import numbered

TEXT = """
the house | das Haus
the book | das Buch
a book | ein Buch
the the house is | ja das Haus
a | ein ein Haus ja
a house | Haus ein
"""
CORPUS = [tuple(side.split() for side in line.split("|")) for line in TEXT.strip().split("\n")]


class Tiny:
    """The corpus, its cells, and a way from the entries of a table to pairs of words."""

    def __init__(self):
        self.corpus = CORPUS
        sources, targets = ([pair[side] for pair in CORPUS] for side in (0, 1))
        ids = [numbered(side, lowercase=False) for side in (sources, targets)]
        self.cells = make_cells(*ids)
        self.words = {}
        for chunk in self.cells.chunks:
            for bucket in chunk.buckets:
                entries = bucket.of(chunk.entries)
                for (j, n, i), entry in np.ndenumerate(entries):
                    source, target = CORPUS[bucket.pairs[n]]
                    words = ((None, *source)[i], target[j])
                    self.words.setdefault(int(entry), set()).add(words)
        assert all(len(found) == 1 for found in self.words.values())
        self.words = {entry: found.pop() for entry, found in self.words.items()}

    def table(self, values):
        """Return (entries,) of a dictionary from pairs of words."""
        return np.array([values[self.words[entry]] for entry in range(len(self.words))])


@pytest.fixture(scope="module")
def tiny():
    return Tiny()
