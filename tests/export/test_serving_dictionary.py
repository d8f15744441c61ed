"""A served model that is guided by a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from lstm_model import ToyLstm, ToyLstmHParams
from toy_run import ToyRun, make_toy_run

from t2t_phrase import registry
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.text.alignments.pharaoh import write_links
from t2t_phrase.text.dictionaries.reader import read_dictionary

LINES = ["the house is old", "", "dogs (run) far away", "a cat sleeps in it while dogs run"]
OPTIONS = DecodeHParams(beam_size=2, extra_length=6, max_input_size=9)
EVERY = "\n".join(f"{word}\tÜnd {word}" for word in {*" ".join(LINES).split()})


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def module(toy: ToyRun) -> ServingModule:
    """Its function is traced once."""
    return ServingModule(toy.model, *toy.vocabularies, OPTIONS)


@pytest.mark.slow
def test_the_decoder_gives_the_same(toy: ToyRun, module: ServingModule) -> None:
    dictionaries = [EVERY, EVERY, "run\tÜnd\nfar away\tcat", EVERY]
    found = module.translate_with_dictionary(tf.constant(LINES), tf.constant(dictionaries))
    dictionary = Dictionary([], toy.encoder)
    options = OPTIONS.replace(write_alignments=True)
    translator = Translator(toy.model, toy.vocabularies, options, dictionary=dictionary)
    entries = [read_dictionary(text.split("\n"), "d") for text in dictionaries]
    expected = [best for best, *_ in translator.translate(LINES, entries=entries)]
    assert [text.decode() for text in found["translation"].numpy()] == [h.text for h in expected]
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4)
    aligned = [links.decode() for links in found["alignment"].numpy()]
    assert aligned == [write_links(h.links) for h in expected]
    assert all(aligned[number] for number in (0, 2, 3)) and not aligned[1]
    assert found["applied"].numpy().tolist() == [h.entries for h in expected]
    assert found["applied"].numpy()[[0, 3]].all() and found["matched"].numpy()[2] == 2
    cut = translator.encode(LINES).cut
    assert found["cut"].numpy().tolist() == [number in cut for number in range(4)] and cut


@pytest.mark.slow
def test_nothing_is_applied_without_entries_or_sentences(module: ServingModule) -> None:
    found = module.translate_with_dictionary(tf.constant(LINES), tf.constant([""] * len(LINES)))
    assert "Ünd".encode() not in b"".join(found["translation"].numpy())
    assert not found["matched"].numpy().any() and not found["applied"].numpy().any()
    nothing = tf.constant([], tf.string)
    assert module.translate_with_dictionary(nothing, nothing)["matched"].shape == (0,)


def test_a_model_without_attention_has_no_such_function(toy: ToyRun) -> None:
    class Blind(ToyLstm):
        def attention_maps(self) -> dict:
            return {}

    blind = Blind.from_hparams(ToyLstmHParams(), vocab_size=toy.encoder.vocab_size)
    assert ServingModule(blind, *toy.vocabularies, OPTIONS).translate_with_dictionary is None


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register two searches, one of which omits the decoder's notes."""
    monkeypatch.setattr(registry.searches, "_entries", dict(registry.searches._entries))

    @registry.searches.register
    def noting(decoder: Any, features: Any, hparams: Any) -> Any:
        return plain_expansion(decoder)

    @registry.searches.register
    def silent(decoder: Any, features: Any, hparams: Any) -> Any:
        return plain_expansion(decoder._replace(notes=lambda cache: {}, pads={}))


@pytest.mark.usefixtures("searches")
def test_a_search_without_notes_is_served_without_this_function(toy: ToyRun) -> None:
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS.replace(search="silent"))
    assert [*module.signatures()] == ["serving_default", "nbest", "score"]


@pytest.mark.slow
@pytest.mark.usefixtures("searches")
def test_a_search_with_notes_is_served_with_this_function(toy: ToyRun, module: Any) -> None:
    own = ServingModule(toy.model, *toy.vocabularies, OPTIONS.replace(search="noting"))
    given = tf.constant(LINES), tf.constant([EVERY] * len(LINES))
    found, expected = (each.translate_with_dictionary(*given) for each in (own, module))
    for name in ("translation", "applied", "alignment"):
        assert found[name].numpy().tolist() == expected[name].numpy().tolist()
