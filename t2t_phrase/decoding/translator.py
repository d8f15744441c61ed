"""Translates lines of text: makes batches by length, searches, and restores the order."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from t2t_phrase.compile import uses_xla
from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import Batch, make_batches
from t2t_phrase.decoding.dictionary import Dictionary, SentenceEntries
from t2t_phrase.decoding.hparams import DecodeHParams, searches_of
from t2t_phrase.decoding.hypothesis import NOTHING, Hypothesis
from t2t_phrase.decoding.out_of_memory import explained
from t2t_phrase.decoding.parts import search_in_parts
from t2t_phrase.decoding.prefixes import Prefixes, prefix_arrays
from t2t_phrase.decoding.prepared_search import PreparedSearch
from t2t_phrase.decoding.search.beam_search import Hypotheses
from t2t_phrase.decoding.search.output_limits import longest_output
from t2t_phrase.decoding.search.required_terms import TERMS
from t2t_phrase.decoding.search.restrictions import check_restrictions, with_tables
from t2t_phrase.decoding.search.sampling import sample_seed
from t2t_phrase.decoding.search.search_weights import ConstantWeights
from t2t_phrase.decoding.search.shortlist import ALLOWED
from t2t_phrase.decoding.search.source_attention import source_attention
from t2t_phrase.decoding.search.translate_ids import MakeExpansion, chosen_expansion, translate_ids
from t2t_phrase.decoding.shortlists import shortlist_arrays
from t2t_phrase.decoding.sides import (
    IDS,
    EncodedSide,
    FeatureTexts,
    check_features,
    encode_side,
    tokenize,
)
from t2t_phrase.decoding.spelt_hypotheses import SpeltHypotheses
from t2t_phrase.decoding.terms import RequiredTerms
from t2t_phrase.decoding.text_lists import check_list
from t2t_phrase.decoding.word_links import (
    words_of_text,
)
from t2t_phrase.features import of_side
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.token_texts import VocabularyTables
from t2t_phrase.text.vocabularies import Encoder, Vocabularies
from t2t_phrase.text.words.encoder import WordEncoder


class Translator:
    """Translates with one model; compiled functions are kept from call to call.

    Args:
        model: any encoder-decoder.
        vocabularies: of both sides.
        hparams: the options of decoding.
        dictionary: translations of certain phrases, or required and forbidden phrases; needed, too,
            for the entries of single sentences. None: there are no entries.
        unknown_words: with `replace_unknown`, translations by source word, one word each; None:
            unknown words become copies of source words.
        make_expansion: another way of continuing hypotheses, see `search.translate_ids.search`.
        xla: see `compile.compiled`.
        workers: number of parts of a batch that are searched at the same time. On a CPU, several
            parts are faster if each operation uses only one core, see `divide_cores`, and XLA
            compiles nothing. Sampling has one part: samples must not depend on the cores.

    Attributes:
        shapes: the shapes of all batches so far, or of their parts; the search is compiled for each
            of them.

    Raises:
        UserError: plain beam search cannot translate with the model, and no other expansion is
            given; or alignments, which dictionaries and the replacement of unknown words also need,
            are requested of a model that has none, or of layers that it lacks; or unknown words are
            to be replaced, but the vocabulary has no unknown words.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        vocabularies: Vocabularies,
        hparams: DecodeHParams,
        *,
        dictionary: Dictionary | RequiredTerms | None = None,
        unknown_words: Mapping[str, str] | None = None,
        make_expansion: MakeExpansion | None = None,
        xla: bool | None = None,
        workers: int = 1,
    ) -> None:
        chosen = chosen_expansion(hparams, make_expansion)
        if chosen is None and model.capabilities.cannot_translate:
            raise UserError(model.capabilities.cannot_translate)
        self.vocabularies = vocabularies
        self.hparams = hparams
        self.features = of_side(model.hparams.features, "source")
        self.dictionary = dictionary
        self.unknown_words = unknown_words
        self.workers = 1 if hparams.sampling_temp else workers
        self.shapes: set[tuple[int, int]] = set()
        if hparams.replace_unknown:
            check_word_level(vocabularies.target)
        if isinstance(dictionary, RequiredTerms):
            check_restrictions({TERMS: None}, hparams)
        self._prefixes: Prefixes | None = None
        aligns = hparams.aligns or hparams.coverage_penalty > 0
        aligns = aligns or (dictionary is not None and dictionary.aligns)
        if aligns and not model.capabilities.hypothesises_positions:
            # Raise errors at once, not in the first batch.
            source_attention(model, layers=hparams.alignment_layers, heads=hparams.alignment_heads)

        def run(weights: Any, features: Any, seed: Any) -> Any:
            return translate_ids(
                model,
                with_tables(features, self._tables),
                hparams,
                seed=seed,
                weights=ConstantWeights(weights),
                make_expansion=make_expansion,
                growing=not uses_xla(xla),
            )

        self._search = PreparedSearch(run, model, quantized=hparams.quantize == "int8", xla=xla)

    def translate(
        self,
        lines: Sequence[str],
        *,
        features: FeatureTexts | None = None,
        entries: Sequence[Sequence[Entry]] | None = None,
        prefixes: Sequence[str] = (),
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of every line, best first, in the order of the lines.

        A line without words has one hypothesis, the empty one.

        Args:
            lines: sentences.
            features: the text of each source feature that the model reads.
            entries: those for each single line; they need a `dictionary`, which may be empty.
            prefixes: see `with_prefixes`; (): none.

        Raises:
            UserError: a feature is missing, or does not fit the lines; an entry or a prefix cannot
                be spelt; a text is not valid Unicode; or `lines` is not a list of texts.
        """
        lines = check_list("lines", lines)
        encoded = self.with_prefixes(self.encode(lines, features, entries), prefixes)
        return self.translate_encoded(encoded)

    def encode(
        self,
        lines: Sequence[str],
        features: FeatureTexts | None = None,
        entries: Sequence[Sequence[Entry]] | None = None,
    ) -> EncodedSide:
        """Return the ids and features of all lines, cut to `max_input_size`; see `translate`."""
        starts = self.dictionary is not None or bool(self.features)
        sentences = tokenize(self.vocabularies.source, lines, starts=starts)
        encoded = encode_side(
            "source",
            sentences,
            self.features,
            check_features(self.features, features or {}, len(lines)),
            max_tokens=self.hparams.max_input_size,
        )
        if self.hparams.aligns:
            words = [
                words_of_text(self.vocabularies.source, *pair)
                for pair in zip(lines, (ids[:-1] for ids in encoded.ids), strict=True)
            ]
            encoded = dataclasses.replace(
                encoded, words=words, texts=[line.split() for line in lines]
            )
        if self.dictionary is not None:
            found = [
                self.dictionary.apply(
                    sentence,
                    own,
                    cut=len(ids) - 1,
                    longest=longest_output(len(ids), self.hparams),
                )
                if ids
                else SentenceEntries()
                for sentence, ids, own in zip(
                    sentences, encoded.ids, entries or [()] * len(sentences), strict=True
                )
            ]
            encoded = dataclasses.replace(encoded, entries=found)
        return encoded

    def with_prefixes(
        self, lines: EncodedSide, prefixes: Sequence[str], name: str = "prefix", first: int = 0
    ) -> EncodedSide:
        """Return lines whose translations begin with given texts.

        A text may end within a word, which the translation completes; a blank at the end of the
        text marks its last word as complete.

        Args:
            lines: from `encode`.
            prefixes: one for each line, "" for none; (): none at all.
            name: of the prefixes' file, for messages.
            first: number, from 0, of the first line in its file, for messages.

        Raises:
            UserError: the numbers of prefixes and lines differ, or a prefix is too long or cannot
                be spelt.
        """
        if not prefixes:
            return lines
        if self._prefixes is None:
            self._prefixes = Prefixes(self.vocabularies.target)
        limits = [longest_output(len(ids), self.hparams) for ids in lines.ids]
        found = self._prefixes.encode_all(prefixes, limits, name=name, first=first)
        return dataclasses.replace(lines, prefixes=found)

    def _tables(self) -> VocabularyTables:
        """Return the tables of the target vocabulary, which prefixes and required terms need."""
        known = self.dictionary if isinstance(self.dictionary, RequiredTerms) else self._prefixes
        assert known is not None, "there are none"
        return known.texts.tables

    def translate_encoded(
        self, lines: EncodedSide, *, random_seed: int | None = None
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of lines that `encode` returned.

        Args:
            lines: from `encode`.
            random_seed: see `batches`.
        """
        results = [[NOTHING] for _ in lines.ids]
        for batch, found in self.batches(lines, random_seed=random_seed):
            for line, hypotheses in zip(batch.lines, found, strict=True):
                results[line] = hypotheses
        return results

    def batches(
        self,
        lines: EncodedSide,
        *,
        done: Collection[int] = (),
        number: int = 0,
        first: int = 0,
        random_seed: int | None = None,
    ) -> Iterator[tuple[Batch, list[list[Hypothesis]]]]:
        """Yield each batch with the hypotheses of its lines, longest lines first.

        Lines without words are left out. If `done` has the lines of whole batches, the other
        batches are the same as without `done`.

        Args:
            lines: from `encode`.
            done: numbers of lines to leave out.
            number: of the first batch; samples depend on it.
            first: number, from 0, of the first line in its file, for messages.
            random_seed: of sampling; a new one compiles nothing. None: that of the options.

        Raises:
            OutOfMemoryError: a batch does not fit.
        """
        run = self._search.prepared()
        if random_seed is None:
            random_seed = self.hparams.random_seed
        lengths = [0 if i in done else len(ids) for i, ids in enumerate(lines.ids)]
        extra = min(self.hparams.extra_length, self.hparams.max_length or math.inf)
        batches = make_batches(lengths, self.hparams.batch_size, extra_length=int(extra))

        def search(number: int, batch: Batch, part: slice) -> list[Hypotheses]:
            with explained([first + i + 1 for i in batch.lines], batch.shape):
                given = {**lines.of_batch(batch), **self._of_dictionary(lines, batch)}
                given.update(prefix_arrays(lines.prefixes, batch))
                listed = shortlist_arrays(lines, batch, self.vocabularies.target)
                given.update({name: listed[name] for name in listed if name == ALLOWED})
                given = {name: values[part] for name, values in given.items()}
                given.update({name: listed[name] for name in listed if name != ALLOWED})
                self.shapes.add(given[IDS["source"]].shape)
                samples = [
                    run(given, sample_seed(random_seed, batch=number, sample=sample))
                    for sample in range(searches_of(self.hparams))
                ]
                return keras.tree.map_structure(np.asarray, samples)

        cut = {*lines.cut}
        spelt = SpeltHypotheses(
            self.vocabularies.target, self.hparams, self.unknown_words, self._tables
        )
        numbered = enumerate(batches, start=number)
        with contextlib.closing(
            search_in_parts(search, numbered, workers=self.workers)
        ) as searched:
            for batch, samples in searched:
                yield (
                    batch,
                    [
                        spelt.of_sentence(
                            keras.tree.map_structure(operator.itemgetter(row), samples),
                            lines,
                            line,
                            cut=line in cut,
                        )
                        for row, line in enumerate(batch.lines)
                    ],
                )

    def _of_dictionary(self, lines: EncodedSide, batch: Batch) -> dict[str, np.ndarray]:
        """Return the entries of a dictionary that apply in a batch, by name."""
        entries: Any = lines.entries  # those of this dictionary
        return self.dictionary.arrays(entries, batch) if self.dictionary else {}


def check_word_level(encoder: Encoder) -> None:
    """Refuse to replace unknown words if the vocabulary has none.

    Raises:
        UserError: the vocabulary spells every word.
    """
    if not isinstance(encoder, WordEncoder):
        raise UserError(
            "replace_unknown=true: the target vocabulary consists of subwords, which spell every "
            "word, so none is unknown; leave it out, or train with data of "
            "t2t-phrase-datagen --vocab_type=words"
        )
