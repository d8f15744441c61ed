import re

import keras
import numpy as np
import pytest
from random_weights import randomize

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis, format_hypotheses
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.models.phrase_representation import with_phrase_representation
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.vocabularies import Vocabularies

WORDS = ["<pad>", "<EOS>", "<unk>", "a", "b", "c", "d", "\n", "\t", "e", "f", "g"]


class Words:
    """One id a word; the model may put out blanks, too."""

    def encode(self, text):
        return [WORDS.index(word) for word in text.split()]

    def encode_with_starts(self, texts):
        return [
            (self.encode(text), [m.start() for m in re.finditer(r"\S+", text)]) for text in texts
        ]

    def decode(self, ids):
        ids = list(ids)
        return " ".join(WORDS[i] for i in (ids[: ids.index(1)] if 1 in ids else ids) if i)


WORD_IDS = Vocabularies(Words(), Words())


@pytest.fixture(scope="module")
def model():
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().replace(
        num_hidden_layers=1, hidden_size=16, filter_size=16, num_heads=2
    )
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=len(WORDS))
    draw = np.random.default_rng(0)
    for variable in model.trainable_variables:
        variable.assign((variable.name == "gamma") + 0.1 * draw.normal(size=variable.shape))
    return model


LINES = ["a b c", "", "d", "   ", "g f e d c b a a b c", "b b"]
OPTIONS = DecodeHParams(beam_size=3, extra_length=6)


def test_order_and_count_are_kept_and_a_line_alone_gives_the_same(model):
    translator = Translator(model, WORD_IDS, OPTIONS)
    together = translator.translate(LINES)
    assert len(together) == len(LINES)
    for line, found in zip(LINES, together, strict=True):
        (alone,) = translator.translate([line])
        assert [h.text for h in alone] == [h.text for h in found]
        np.testing.assert_allclose([h.score for h in alone], [h.score for h in found], rtol=1e-4)


def test_the_default_type_of_keras_does_not_matter(model):
    expected = Translator(model, WORD_IDS, OPTIONS).translate(LINES)
    keras.config.set_floatx("float64")
    try:
        found = Translator(model, WORD_IDS, OPTIONS).translate(LINES)
    finally:
        keras.config.set_floatx("float32")
    assert [h[0].text for h in found] == [h[0].text for h in expected]


def test_a_text_is_not_a_list_of_its_letters(model):
    with pytest.raises(UserError, match=r"lines: expected a list of strings, got 'a b'; write \["):
        Translator(model, WORD_IDS, OPTIONS).translate("a b")


def test_a_line_without_words_gives_an_empty_translation(model):
    translator = Translator(model, WORD_IDS, OPTIONS)
    assert translator.translate(["", " \t"]) == [[Hypothesis("", 0.0, 0)]] * 2
    assert translator.translate([]) == []


@pytest.mark.slow
def test_a_model_that_was_trained_on_translates_anew():
    registry.discover()
    hparams = with_phrase_representation(registry.hparams["transformer_tiny"]())
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=len(WORDS))
    randomize(model)
    translator = Translator(model, WORD_IDS, OPTIONS)
    before = translator.translate(LINES)
    randomize(model, seed=1)
    after = translator.translate(LINES)
    assert after != before
    assert after == Translator(model, WORD_IDS, OPTIONS).translate(LINES)


def test_all_beams_are_returned_best_first(model):
    translator = Translator(model, WORD_IDS, OPTIONS.replace(return_beams=True))
    results = translator.translate(LINES)
    assert max(len(found) for found in results) > 1
    for found in results:
        assert 1 <= len(found) <= 3
        scores = [h.score for h in found]
        assert scores == sorted(scores, reverse=True)


def test_tokens_count_words_and_eos(model):
    for (found,) in Translator(model, WORD_IDS, OPTIONS).translate(["a b c", "d", "e f"]):
        blanks = found.tokens - len(found.text.split())
        assert blanks >= 0 and found.tokens <= 4 + OPTIONS.extra_length


class Speller(Words):
    """Decodes everything to text that would break a line."""

    def decode(self, ids):
        del ids
        return " x\ny\t\u2028z\r "


def test_a_translation_is_one_line_whatever_the_model_spells(model):
    (found,) = Translator(model, Vocabularies(Words(), Speller()), OPTIONS).translate(["a"])
    assert found[0].text == "x y z"


def test_max_input_size_cuts_and_says_so(model):
    translator = Translator(model, WORD_IDS, OPTIONS.replace(max_input_size=4))
    encoded = translator.encode(["a b c", "a b c d", "", "a b c d e f"])
    assert encoded.ids == [[3, 4, 5, 1], [3, 4, 5, 1], [], [3, 4, 5, 1]]
    assert encoded.lengths == [4, 5, 1, 7]
    assert encoded.cut == [1, 3]
    first, second, *_ = translator.translate_encoded(encoded)
    assert first[0].text == second[0].text


@pytest.mark.parametrize("xla", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_shape_of_a_batch_is_compiled_once(model, xla):
    translator = Translator(model, WORD_IDS, OPTIONS.replace(batch_size=8), xla=xla)
    longer = [*LINES, "a b c d e f g a b c d e f g a b c"]
    for lines in (LINES, longer, LINES):
        translator.translate(lines)
    assert len(translator.shapes) > 2
    assert translator._search._run.experimental_get_tracing_count() == len(translator.shapes)


MANY = [" ".join("abcdefg"[i % 7 : i % 7 + 1 + i % 5]) for i in range(1, 30)]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_batches_in_parts_give_the_same(model, workers):
    options = OPTIONS.replace(return_beams=True, write_alignments=True)
    whole = Translator(model, WORD_IDS, options).translate(MANY)
    translator = Translator(model, WORD_IDS, options, workers=workers)
    parts = translator.translate(MANY)
    assert len({found[0].text for found in whole}) > 5
    for before, now in zip(whole, parts, strict=True):
        assert [(h.text, h.links) for h in now] == [(h.text, h.links) for h in before]
        np.testing.assert_allclose([h.score for h in now], [h.score for h in before], rtol=1e-5)
    # 29 lines in 32 rows.
    assert translator.shapes == {(-(-32 // workers), 8)}
    assert translator._search._run.experimental_get_tracing_count() == 1


@pytest.mark.slow
def test_a_dictionary_may_apply_in_one_part_only(model):
    def translated(**options):
        dictionary = Dictionary([], WORD_IDS.target)
        translator = Translator(model, WORD_IDS, OPTIONS, dictionary=dictionary, **options)
        entries = [[Entry("f", "g f")] if i == 4 else [] for i in range(len(MANY))]
        return translator.translate(MANY, entries=entries)

    whole, parts = translated(), translated(workers=2)
    assert [found[0].text for found in parts] == [found[0].text for found in whole]
    assert sum(found[0].entries for found in parts) == 1 == sum(f[0].entries for f in whole)


@pytest.mark.slow
def test_what_is_sampled_does_not_depend_on_the_number_of_cores(model):
    options = DecodeHParams(sampling_temp=1.0, extra_length=6)
    whole = Translator(model, WORD_IDS, options).translate(MANY)
    assert Translator(model, WORD_IDS, options, workers=2).translate(MANY) == whole


def test_lines_as_they_are_written():
    found = [Hypothesis("ein Haus", -0.51234, 3), Hypothesis("Haus", -2.0, 2)]
    assert format_hypotheses(found[:1], DecodeHParams()) == "ein Haus"
    assert format_hypotheses(found, DecodeHParams(return_beams=True)) == "ein Haus\tHaus"
    scored = DecodeHParams(return_beams=True, write_scores=True)
    assert format_hypotheses(found, scored) == "ein Haus\t-0.5123\tHaus\t-2.0000"
