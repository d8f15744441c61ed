"""Sizes of corpora, and the vocabulary, hparams sets and updates that suit each."""

from __future__ import annotations

from typing import NamedTuple

# As a vocabulary size: to be chosen by the size of the corpus.
AUTO = -1


class CorpusSize(NamedTuple):
    """A class of corpora.

    Attributes:
        name: approximate number of sentence pairs; hparams sets end in it, as in `transformer_30k`.
        most_pairs: largest number of sentence pairs in a corpus of this class.
        train_steps: number of updates that the sets are designed for.
    """

    name: str
    most_pairs: float
    train_steps: int


SIZES = (
    CorpusSize("3k", 5000, 1500),
    CorpusSize("10k", 17_000, 6000),
    CorpusSize("30k", 55_000, 8000),
    CorpusSize("100k", 300_000, 8000),
    CorpusSize("1m", float("inf"), 30_000),
)
# The largest number of pairs in a corpus, and the entries of a joint vocabulary for it.
_VOCABULARIES = (
    (1000, 1000),
    (5000, 2000),
    (17_000, 4000),
    (55_000, 8000),
    (300_000, 12_000),
    (2_000_000, 20_000),
    (float("inf"), 32_000),
)


def corpus_size(pairs: int) -> CorpusSize:
    """Return the class of a corpus with `pairs` training pairs."""
    return next(size for size in SIZES if pairs <= size.most_pairs)


def vocabulary_size(pairs: int, least: int = 0) -> int:
    """Return the size of a vocabulary that suits `pairs` training pairs.

    Args:
        pairs: number of training pairs.
        least: number of its entries that are special words, bytes or characters; half of the usual
            size is added for longer subwords, which matters for Chinese and Japanese.
    """
    entries = next(entries for most, entries in _VOCABULARIES if pairs <= most)
    return max(entries, least + entries // 2)
