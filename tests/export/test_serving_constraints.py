"""A served model with required terms, forbidden phrases and prefixes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from toy_run import ToyRun, make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.terms import RequiredTerms
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.text.dictionaries.reader import read_dictionary

LINES = ["the house is old", "", "dogs (dogs) far away", "a cat sleeps in it while dogs run"]
OPTIONS = DecodeHParams(beam_size=3, extra_length=14, max_input_size=12)
TERMS = [
    "house\tx zq\nhouse\tz\nold\t!far\nno\tentry\tis\there\nold\tin it",
    "house\tz",
    "dogs\tin\naway\tb c d e f g h i j k l m n o p q r s\n\t!a\nfar\t!ho us\n",
    "",
]
PREFIXES = ["the ho", "", "dogs ", "Über"]


@pytest.mark.slow
@pytest.mark.parametrize("words", [0, 20])
def test_the_decoder_gives_the_same(tmp_path, words: int) -> None:
    toy: ToyRun = make_toy_run(tmp_path, words=words)
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS)
    translator = Translator(
        toy.model, toy.vocabularies, OPTIONS, dictionary=RequiredTerms([], toy.encoder)
    )
    entries = [read_dictionary(text.split("\n"), "d", "require") for text in GOOD]
    prefixes = PREFIXES
    if words:
        # Entries with words that are not in the vocabulary are left out in a graph.
        entries = [[e for e in own if 2 not in toy.encoder.encode(e.target)] for own in entries]
        prefixes = ["the ho", "", "dogs ", ""]
    found = module.translate_with_constraints(
        tf.constant(LINES), tf.constant(TERMS), tf.constant(PREFIXES)
    )
    expected = [
        best for best, *_ in translator.translate(LINES, entries=entries, prefixes=prefixes)
    ]
    assert [text.decode() for text in found["translation"].numpy()] == [h.text for h in expected]
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4)
    assert found["applied"].numpy().tolist() == [h.entries for h in expected]
    matched = [h.entries + len(h.missing) for h in expected]
    assert found["matched"].numpy().tolist() == matched
    assert found["kept"].numpy().tolist() == [True, True, True, not words]
    if not words:
        assert matched == [2, 0, 3, 0] and found["applied"].numpy().tolist() == [2, 0, 2, 0]


# Without the line that is no entry.
GOOD = [text.replace("no\tentry\tis\there\n", "") for text in TERMS]


def test_there_is_none_without_a_beam(tmp_path) -> None:
    toy = make_toy_run(tmp_path)
    module = ServingModule(toy.model, *toy.vocabularies, OPTIONS.replace(beam_size=1))
    assert module.translate_with_constraints is None
