"""A served model that replaces unknown words."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf
from lstm_model import ToyLstm, ToyLstmHParams
from toy_run import ToyRun, call, make_toy_run

from t2t_phrase.bin import exporter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.text.dictionaries.reader import read_dictionary
from t2t_phrase.text.dictionaries.unknown_words import UNKNOWN

LINES = ["zebras run", "", "dogs  run", "Anna sleeps in the zoo while zebras run", "old Ünknown"]
# One line is cut.
CHOSEN = "beam_size=2,extra_length=6,replace_unknown=true,max_input_size=7"
OPTIONS = DecodeHParams().override(CHOSEN)
WORDS = {"zebras": "Zebras", "Anna": "Änne", "old": "alte"}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    """A model whose vocabulary lacks most words, so that it writes <unk> often."""
    return make_toy_run(tmp_path_factory.mktemp("toy"), words=6)


def decoded(toy: ToyRun, words: dict[str, str] | None, **changes: object) -> list[list[str]]:
    options = OPTIONS.replace(**changes)
    translator = Translator(toy.model, toy.vocabularies, options, unknown_words=words)
    return [[beam.text for beam in beams] for beams in translator.translate(LINES)]


def texts(found: tf.Tensor) -> list[str]:
    return [text.decode() for text in found.numpy().ravel()]


@pytest.fixture
def eager() -> Iterator[None]:
    """Without graphs, which take far longer to make than to run."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.usefixtures("eager")
def test_all_beams_are_the_decoders(toy: ToyRun) -> None:
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS, None, WORDS)
    found = module.nbest(tf.constant(LINES))
    expected = decoded(toy, WORDS, return_beams=True)
    width = OPTIONS.beam_size
    padded = [text for beams in expected for text in [*beams, *[""] * (width - len(beams))]]
    assert texts(found["translations"]) == padded
    assert found["cut"].numpy().tolist() == [False, False, False, True, False]
    written = " ".join(padded).split()
    # Something is translated, and something copied; no unknown word is left where it has a source.
    assert {*WORDS.values()} & {*written} and {"run", "dogs", "Ünknown"} & {*written}


@pytest.mark.slow
def test_an_exported_model_does_as_the_decoder(toy: ToyRun, tmp_path: pathlib.Path) -> None:
    (tmp_path / "words").write_text("".join(f"{a}\t{b}\n" for a, b in WORDS.items()))
    given = [*toy.flags, f"--decode_hparams={CHOSEN}", f"--export_dir={tmp_path}/export"]
    call(exporter, *given, f"--unknown_dictionary={tmp_path}/words")
    call(exporter, *given)
    for version, words in (("1", WORDS), ("2", None)):
        served = tf.saved_model.load(f"{tmp_path}/export/{version}").signatures
        best = served["serving_default"](text=tf.constant(LINES))
        expected = [beams[0] for beams in decoded(toy, words)]
        assert texts(best["translation"]) == expected
        # The first entry cannot be spelt and is left out.
        entry = f"zebras\t{toy.encoder.words[-1]}"
        entries = tf.constant([f"run\t{UNKNOWN}\n{entry}"] * len(LINES))
        guided = served["translate_with_dictionary"](text=tf.constant(LINES), dictionary=entries)
        dictionary = Dictionary([], toy.encoder)
        translator = Translator(
            toy.model, toy.vocabularies, OPTIONS, dictionary=dictionary, unknown_words=words
        )
        own = read_dictionary([entry], "d")
        found = translator.translate(LINES, entries=[own] * len(LINES))
        assert texts(guided["translation"]) == [beams[0].text for beams in found]
        np.testing.assert_array_equal(guided["applied"], [beams[0].entries for beams in found])
    about = (tmp_path / "export" / "1" / "assets.extra" / "export.json").read_text()
    assert '"unknown_dictionary": "' in about and '"replace_unknown": true' in about


def test_what_shows_no_attention_is_refused(toy: ToyRun) -> None:
    class Blind(ToyLstm):
        def attention_maps(self) -> dict:
            return {}

    blind = Blind.from_hparams(ToyLstmHParams(), vocab_size=toy.encoder.vocab_size)
    with pytest.raises(UserError, match="attention"):
        ServingModule(blind, *toy.vocabularies, OPTIONS)
    with pytest.raises(UserError, match=r"alignment_layers=\[3\]"):
        ServingModule(toy.model, *toy.vocabularies, OPTIONS.replace(alignment_layers=(3,)))


def test_a_dictionary_needs_the_option(toy: ToyRun, tmp_path: pathlib.Path) -> None:
    (tmp_path / "words").write_text("zebras\tZebras\n")
    given = [*toy.flags, f"--export_dir={tmp_path}/e", f"--unknown_dictionary={tmp_path}/words"]
    with pytest.raises(UserError, match="is only used with --decode_hparams=replace_unknown=true"):
        call(exporter, *given)
    with pytest.raises(UserError, match="replaces no unknown words; export a SavedModel"):
        call(exporter, *given, "--format=ctranslate2")
    assert not (tmp_path / "e").exists()
