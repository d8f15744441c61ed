"""Hypotheses as text, from the ids, scores and notes that a search found."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis
from t2t_phrase.decoding.minimum_bayes_risk import by_expected_chrf
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.alignment_expansion import EVALUATED
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses
from t2t_phrase.decoding.search.guided import ENTRY
from t2t_phrase.decoding.search.required_terms import TERM
from t2t_phrase.decoding.search.token_probabilities import LOG_PROB
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.decoding.terms import SentenceTerms, terms_met
from t2t_phrase.decoding.word_links import (
    pieces_of_ids,
    tokens_of_row,
    word_links,
    words_of_ids,
)
from t2t_phrase.special_ids import EOS_ID, PAD_ID
from t2t_phrase.text.alignments.pharaoh import Link
from t2t_phrase.text.dictionaries.unknown_words import replace_unknown
from t2t_phrase.text.token_texts import VocabularyTables
from t2t_phrase.text.vocabularies import Encoder


@dataclasses.dataclass(frozen=True)
class SpeltHypotheses:
    """Spells the results of searches.

    Attributes:
        target: the encoder of the target.
        hparams: the options of decoding.
        unknown_words: see `Translator`.
        tables: returns the tables of the target vocabulary; called where terms are required.
    """

    target: Encoder
    hparams: DecodeHParams
    unknown_words: Mapping[str, str] | None
    tables: Callable[[], VocabularyTables]

    def of_sentence(
        self, samples: Sequence[Hypotheses], lines: EncodedSide, line: int, *, cut: bool
    ) -> list[Hypothesis]:
        """Return the hypotheses of all samples of a sentence, best first.

        Args:
            samples: the results of each search: ids (K, L), scores (K,) and notes (K, L).
            lines: all sentences.
            line: number of this sentence, from 0.
            cut: whether the sentence was cut.
        """
        source_words = lines.words[line] if lines.words else ()
        source = lines.texts[line] if lines.texts else ()
        entries = lines.entries[line] if lines.entries else None
        found = [self._hypotheses(sample, source_words, source) for sample in samples]
        if isinstance(entries, SentenceTerms):
            found = [
                [
                    self._with_terms(hypothesis, sample, beam, entries)
                    for beam, hypothesis in enumerate(own)
                ]
                for sample, own in zip(samples, found, strict=True)
            ]
        every = [*itertools.chain(*found)]
        if cut:
            every = [dataclasses.replace(hypothesis, source_cut=True) for hypothesis in every]
        if len(samples) == 1:
            return every
        if self.hparams.mbr:
            every = by_expected_chrf(every)
        else:
            every.sort(key=lambda hypothesis: -hypothesis.score)
        return every if self.hparams.return_beams else every[:1]

    def _hypotheses(
        self, found: Hypotheses, source_words: Sequence[int], source: Sequence[str]
    ) -> list[Hypothesis]:
        """Return the hypotheses of one sentence.

        Args:
            found: ids (K, L), scores (K,) and notes (K, L) of the sentence.
            source_words: see `EncodedSide.words`.
            source: see `EncodedSide.texts`.
        """
        ids, scores = found.ids, found.scores
        count = len(scores) if self.hparams.return_beams else 1
        # Lists of finished hypotheses that never filled up end in placeholders.
        real = max(1, int((scores[:count] > WORST / 2).sum()))
        plain = [
            Hypothesis(
                # A model may spell a line feed by its byte; that must not break the line.
                " ".join(self.target.decode(row.tolist()).split()),
                float(score),
                int(np.count_nonzero(row)),
                self._links(row.tolist(), found.notes[POSITION][beam].tolist(), source_words)
                if self.hparams.write_alignments
                else (),
                int(np.count_nonzero(found.notes[ENTRY][beam])) if ENTRY in found.notes else 0,
                int(found.notes[EVALUATED][beam].sum()) if EVALUATED in found.notes else 0,
                cut=EOS_ID not in row,
                **self._of_tokens(
                    row, found.notes[LOG_PROB][beam] if LOG_PROB in found.notes else None
                ),
                ids=tuple(row[row != PAD_ID].tolist()),
                aligned=tuple(found.notes[POSITION][beam][row != PAD_ID].tolist())
                if POSITION in found.notes
                else (),
            )
            for beam, (row, score) in enumerate(zip(ids[:real], scores[:real], strict=True))
        ]
        if not self.hparams.replace_unknown:
            return plain
        positions = found.notes[POSITION]
        return [
            self._replaced(hypothesis, ids[beam], positions[beam], source_words, source)
            for beam, hypothesis in enumerate(plain)
        ]

    def _with_terms(
        self, hypothesis: Hypothesis, found: Hypotheses, beam: int, terms: SentenceTerms
    ) -> Hypothesis:
        """Return a hypothesis with its met and missing required terms; arguments as above."""
        met: set[int] = set()
        if TERM in found.notes:
            met = terms_met(found.ids[beam], found.notes[TERM][beam], self.tables().begins_word)
        return dataclasses.replace(hypothesis, entries=len(met), missing=terms.missing(met))

    def _of_tokens(self, row: Any, log_probs: Any | None) -> dict[str, Any]:
        """Return the facts about each token of a hypothesis, by attribute; {}: none.

        Args:
            row: (L,) its ids.
            log_probs: (L,) the log-probabilities of the ids; None: they were not noted.
        """
        if log_probs is None:
            return {}
        ids = tokens_of_row(row.tolist())
        ids += [EOS_ID] * (EOS_ID in row)
        return {
            "pieces": tuple(pieces_of_ids(self.target, ids)),
            "log_probabilities": tuple(map(float, log_probs[: len(ids)])),
        }

    def _replaced(
        self,
        hypothesis: Hypothesis,
        row: Any,
        positions: Any,
        source_words: Sequence[int],
        source: Sequence[str],
    ) -> Hypothesis:
        """Return a hypothesis with its unknown words replaced; arguments as in `_hypotheses`."""
        tokens = tokens_of_row(row.tolist())
        # Every token is a word, except padding between tokens.
        aligned = [
            source_words[position] if position < len(source_words) else None
            for token, position in zip(tokens, positions.tolist(), strict=False)
            if token != PAD_ID
        ]
        found = replace_unknown(hypothesis.text.split(), aligned, source, self.unknown_words)
        return dataclasses.replace(hypothesis, text=" ".join(found.words), unknown=found.counts)

    def _links(
        self, row: Sequence[int], positions: Sequence[int], source_words: Sequence[int]
    ) -> tuple[Link, ...]:
        tokens = tokens_of_row(row)
        words = words_of_ids(self.target, tokens)
        return word_links(positions[: len(tokens)], words, source_words)
