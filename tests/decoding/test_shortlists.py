"""What a lexicon proposes, and translations that consist of it."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest
from toy_run import WORDS, ToyRun, make_toy_run

from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.shortlist import ALLOWED, TOKENS
from t2t_phrase.decoding.shortlists import Shortlister, shortlist_arrays
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.word_aligner.translation_table import Translation

OPTIONS = DecodeHParams(
    shortlist_frequent=5,
    shortlist_best=4,
    beam_size=3,
    extra_length=3,
    return_beams=True,
    token_probabilities=True,
)
LINES = ["The house, is old", "", "dogs run", "a cat sleeps in it"]
LEXICON = [
    Translation(source, target, 0.0, 1 + (3 * i + j) % 7)
    for i, source in enumerate([*WORDS, "House."])
    for j, target in enumerate([*WORDS[i : i + 3], "from,"])
]


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> ToyRun:
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def translator(toy):
    return Translator(toy.model, toy.vocabularies, OPTIONS)


def listed(toy, translator, lines):
    shortlister = Shortlister(LEXICON, toy.encoder, OPTIONS)
    return shortlister.propose(translator.encode(lines), lines)


def by_loops(encoder, text):
    """Return the tokens that the lexicon proposes for a text."""

    def best(entries, number):
        counts = collections.Counter()
        for entry in entries:
            for token in encoder.encode(entry.target):
                counts[token] += entry.times
        return [t for t, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))][:number]

    tokens = {1, 2, *best(LEXICON, 5), *encoder.encode(text)}
    for word in text.split():
        bare = word.strip(",.").lower()
        tokens |= {*best([e for e in LEXICON if e.source.strip(",.").lower() == bare], 4)}
    return sorted(tokens)


def test_proposals_equal_loops(toy, translator):
    found = listed(toy, translator, LINES).shortlists
    assert [tokens.tolist() for tokens in found] == [by_loops(toy.encoder, x) for x in LINES]


def test_arrays_hold_the_lists_of_a_batch(toy, translator):
    lines = listed(toy, translator, LINES)
    batch = Batch((3, 0), (4, 24))
    arrays = shortlist_arrays(lines, batch, toy.encoder)
    tokens, allowed = arrays[TOKENS], arrays[ALLOWED]
    assert tokens[:2].tolist() == [0, 1] and (np.diff(tokens) >= 0).all()
    assert len(tokens) in (32, 64, 128) and allowed.shape == (4, len(tokens))
    for row, line in enumerate(batch.lines):
        assert tokens[allowed[row]].tolist() == lines.shortlists[line].tolist()
    assert tokens[allowed[2]].tolist() == [1]
    assert shortlist_arrays(translator.encode(LINES), batch, toy.encoder) == {}
    # At most the vocabulary.
    every = dataclasses.replace(lines, shortlists=[np.arange(1, 300)] * len(LINES))
    assert len(shortlist_arrays(every, batch, toy.encoder)[TOKENS]) == 300


def test_translations_consist_of_what_was_proposed(toy, translator):
    lines = listed(toy, translator, LINES)
    together = translator.translate_encoded(lines)
    for line, (found, text) in enumerate(zip(together, LINES, strict=True)):
        own = {*lines.shortlists[line].tolist()}
        for hypothesis in found:
            assert {*hypothesis.pieces} <= {*toy.encoder.pieces(own)}
            assert bool(hypothesis.pieces) == bool(text)
    alone = translator.translate_encoded(listed(toy, translator, LINES[2:3]))[0]
    assert [h.text for h in alone] == [h.text for h in together[2]]
    np.testing.assert_allclose([h.score for h in alone], [h.score for h in together[2]], rtol=1e-4)


@pytest.mark.slow
def test_parts_and_a_dictionary_use_the_list(toy):
    entries = [Entry("dogs", "while cat")]
    made = [
        Translator(
            toy.model,
            toy.vocabularies,
            OPTIONS.replace(return_beams=False),
            dictionary=Dictionary(entries, toy.encoder),
            workers=workers,
        )
        for workers in (1, 2)
    ]
    results = []
    for translator in made:
        lines = Shortlister(LEXICON, toy.encoder, OPTIONS).propose(translator.encode(LINES), LINES)
        assert {*toy.encoder.encode("while cat")} <= {*lines.shortlists[2].tolist()}
        results.append(translator.translate_encoded(lines))
    assert [f[0].text for f in results[0]] == [f[0].text for f in results[1]]
    assert results[0][2][0].entries == 1 and "while cat" in results[0][2][0].text
