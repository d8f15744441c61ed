"""Shortlists of a served model are those of the translator."""

import numpy as np
import pytest
import tensorflow as tf
from toy_run import WORDS, make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export import graph_shortlists
from t2t_phrase.export.graph_shortlists import GraphShortlists
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.word_aligner.translation_table import Translation

OPTIONS = DecodeHParams(shortlist_frequent=5, shortlist_best=6, beam_size=2, extra_length=3)
LINES = ["The house, is OLD", "", "„dogs“ run ...", "Ünknown – a cat sleeps in it", "far"]
LEXICON = [
    Translation(source, target, 0.0, 1 + (3 * i + j) % 7)
    for i, source in enumerate([*WORDS, "House.", "...", "", "ÜNKNOWN"])
    for j, target in enumerate([*WORDS[i % 9 : i % 9 + 3], "from,"])
]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def shortlister(toy):
    return Shortlister(LEXICON, toy.encoder, OPTIONS)


def test_masks_and_sizes(toy, shortlister, monkeypatch):
    monkeypatch.setattr(graph_shortlists, "SIZES", (16, 64, 128))
    translator = Translator(toy.model, toy.vocabularies, OPTIONS)
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS, shortlister=shortlister)
    graph = GraphShortlists(shortlister, module.target.encoder.encode, 300)
    sizes = set()
    for lines in (LINES, LINES[4:], LINES[1:2]):
        found = graph.search(lambda given: given, tf.constant(lines))
        tokens, allowed = (value.numpy() for value in found.values())
        expected = shortlister.propose(translator.encode(lines), lines).shortlists
        assert len(tokens) == allowed.shape[1] and tokens[:2].tolist() == [0, 1]
        for row, own in enumerate(expected):
            assert tokens[allowed[row]].tolist() == own.tolist(), lines[row]
        sizes.add(len(tokens))
    assert len(sizes) > 1 and sizes <= {16, 64, 128, 300}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(), (64,)])
def test_translations_are_those_of_the_translator(toy, shortlister, monkeypatch, sizes):
    monkeypatch.setattr(graph_shortlists, "SIZES", sizes)
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS, shortlister=shortlister)
    assert module.translate_with_constraints is None
    entries = Dictionary([Entry("dogs", "while cat")], toy.encoder)
    translator = Translator(toy.model, toy.vocabularies, OPTIONS, dictionary=entries)
    expected = translator.translate_encoded(shortlister.propose(translator.encode(LINES), LINES))
    dictionary = tf.fill([len(LINES)], "dogs\twhile cat")
    found = module.translate_with_dictionary(tf.constant(LINES), dictionary)
    texts = [text.decode() for text in found["translation"].numpy()]
    assert texts == [hypotheses[0].text for hypotheses in expected]
    np.testing.assert_allclose(found["score"], [h[0].score for h in expected], rtol=1e-4)
    assert found["applied"].numpy().tolist() == [h[0].entries for h in expected] == [0, 0, 1, 0, 0]


def test_an_alignment_model_cannot_have_a_lexicon(toy, shortlister):
    with pytest.raises(UserError, match="a lexicon cannot be used with an alignment model"):
        ServingModule(
            toy.model,
            *toy.vocabularies,
            OPTIONS,
            make_expansion=lambda *given: None,
            shortlister=shortlister,
        )
