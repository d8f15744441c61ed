"""Shortlists of target tokens, which a lexicon proposes for each sentence.

Shapes: B sentences, N tokens of the shortlist of a batch.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.dictionary import SentenceEntries
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.padding import power_of_two
from t2t_phrase.decoding.search.shortlist import ALLOWED, TOKENS
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID
from t2t_phrase.text.most_frequent import most_frequent
from t2t_phrase.text.vocabularies import Encoder
from t2t_phrase.word_aligner.translation_table import Translation
from t2t_phrase.word_aligner.words import compared


class Shortlister:
    """Proposes the target tokens of each sentence.

    These are the most frequent tokens; for each source word, the tokens that occur most often in
    its translations in the lexicon; the tokens that spell the source in the target vocabulary, for
    names and numbers; the tokens of the dictionary's translations; and EOS and unk.

    Args:
        lexicon: translations of words, see `word_aligner.translation_table`. Case and punctuation
            of source words are ignored.
        encoder: of the target.
        hparams: with the numbers of tokens, `shortlist_frequent` and `shortlist_best`.

    Attributes:
        always: tokens that are proposed for every sentence.
        by_source: tokens that a source word proposes, by the word's `compared` form in lower case.
    """

    def __init__(
        self, lexicon: Iterable[Translation], encoder: Encoder, hparams: DecodeHParams
    ) -> None:
        self._encoder = encoder
        spelt: dict[str, list[int]] = {}
        by_source: dict[str, Counter[int]] = {}
        total: Counter[int] = Counter()
        for entry in lexicon:
            if entry.target not in spelt:
                spelt[entry.target] = encoder.encode(entry.target)
            own = by_source.setdefault(compared(entry.source, lowercase=True), Counter())
            for token in spelt[entry.target]:
                own[token] += entry.times
                total[token] += entry.times
        always = {EOS_ID, UNK_ID, *most_frequent(total, hparams.shortlist_frequent)}
        self.always = frozenset(always)
        self.by_source = {
            source: most_frequent(counts, hparams.shortlist_best)
            for source, counts in by_source.items()
        }

    def propose(self, lines: EncodedSide, texts: Sequence[str]) -> EncodedSide:
        """Return sentences with the tokens that their translations may consist of.

        Args:
            lines: from `Translator.encode`.
            texts: of the same sentences.
        """
        found = []
        for number, text in enumerate(texts):
            tokens = {*self.always, *self._encoder.encode(text.strip())}
            for word in text.split():
                tokens.update(self.by_source.get(compared(word, lowercase=True), ()))
            if lines.entries and isinstance(entries := lines.entries[number], SentenceEntries):
                tokens.update(token for own in entries.tokens for token in own)
            found.append(np.array(sorted(tokens - {PAD_ID}), "int32"))
        return dataclasses.replace(lines, shortlists=found)


def shortlist_arrays(lines: EncodedSide, batch: Batch, encoder: Encoder) -> dict[str, np.ndarray]:
    """Return the fields of a batch's `search.shortlist.Shortlist` by name; {}: there is none.

    N is a power of two, or the size of the vocabulary if that is less, so that there are few
    shapes.

    Args:
        lines: all sentences.
        batch: selects sentences.
        encoder: of the target.
    """
    if not lines.shortlists:
        return {}
    own = [lines.shortlists[line] for line in batch.lines]
    together = np.unique(np.concatenate([[PAD_ID, EOS_ID], *own]))
    size = max(len(together), min(power_of_two(len(together)), encoder.vocab_size))
    tokens = np.full(size, together[-1], "int32")
    tokens[: len(together)] = together
    allowed = np.zeros((batch.shape[0], size), bool)
    for row, chosen in enumerate(own):
        allowed[row, np.searchsorted(together, chosen)] = True
    # Rows without a sentence are searched, too; their results are not read.
    allowed[len(own) :, EOS_ID] = True
    return {TOKENS: tokens, ALLOWED: allowed}
