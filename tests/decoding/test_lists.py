"""Lists of hypotheses and samples, and what is known of each, as a translator returns them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from toy_run import ToyRun, make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.minimum_bayes_risk import by_expected_chrf
from t2t_phrase.decoding.translator import Translator

LINES = ["the house is old", "", "a cat sleeps in it while dogs run", "dogs"]
SAMPLING = DecodeHParams(sampling_temp=1.0, extra_length=3, num_samples=4, return_beams=True)


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> ToyRun:
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def sampling(toy):
    return Translator(toy.model, toy.vocabularies, SAMPLING)


@pytest.fixture(scope="module")
def samples(sampling):
    return sampling.translate(LINES)


def test_samples_are_as_many_as_asked_for_and_differ(samples):
    assert [len(found) for found in samples] == [4, 1, 4, 4]
    assert len({hypothesis.text for hypothesis in samples[2]}) == 4
    for found in samples:
        scores = [hypothesis.score for hypothesis in found]
        assert scores == sorted(scores, reverse=True)


def test_every_batch_draws_anew(sampling):
    lines = sampling.encode(LINES)
    first, same, other = ([*sampling.batches(lines, number=number)] for number in (0, 0, 1))
    assert first == same and first != other


@pytest.mark.slow
def test_without_return_beams_the_best_of_the_samples_is_returned(toy, samples):
    options = SAMPLING.replace(return_beams=False)
    found = Translator(toy.model, toy.vocabularies, options).translate(LINES)
    assert found == [each[:1] for each in samples]


@pytest.mark.slow
def test_beam_size_is_the_number_of_samples_as_before(toy, samples):
    options = SAMPLING.replace(num_samples=0, beam_size=4)
    assert Translator(toy.model, toy.vocabularies, options).translate(LINES) == samples


def test_minimum_bayes_risk_chooses_among_the_same_samples(toy, samples):
    options = SAMPLING.replace(mbr=True)
    found = Translator(toy.model, toy.vocabularies, options).translate(LINES)
    for ranked, plain in zip(found, samples, strict=True):
        if len(plain) > 1:
            assert ranked == by_expected_chrf(plain)
            forgotten = [dataclasses.replace(each, expected_chrf=None) for each in ranked]
            assert sorted(forgotten, key=lambda each: -each.score) == plain


def test_what_is_known_of_tokens(toy):
    options = DecodeHParams(
        beam_size=4,
        num_groups=2,
        diversity_strength=1.0,
        extra_length=3,
        max_input_size=8,
        return_beams=True,
        token_probabilities=True,
    )
    long = " ".join([LINES[2]] * 3)
    translator = Translator(toy.model, toy.vocabularies, options)
    lines = ["dogs", "", "it", long]
    found = translator.translate(lines)
    assert translator.encode(lines).cut == [3]
    cut = set()
    for line, hypotheses in enumerate(found):
        for each in hypotheses:
            if not each.tokens:
                assert each.confidence is None and not each.pieces
                continue
            assert each.source_cut == (line == 3)
            assert len(each.pieces) == len(each.log_probabilities) == each.tokens
            assert each.cut == (each.pieces[-1] != "<EOS>")
            cut.add(each.cut)
            total = sum(each.log_probabilities)
            penalty = 1.0 if each.cut else ((5 + each.tokens) / 6) ** options.alpha
            np.testing.assert_allclose(each.score, total / penalty, rtol=1e-4)
            np.testing.assert_allclose(each.confidence, np.exp(total / each.tokens), rtol=1e-6)
            pieces = each.pieces if each.cut else each.pieces[:-1]
            ids = [toy.encoder.pieces(range(300)).index(piece) for piece in pieces]
            assert " ".join(toy.encoder.decode(ids).split()) == each.text
    assert cut, "something was translated"


def test_coverage_needs_attention_to_the_source(toy):
    options = DecodeHParams(coverage_penalty=0.1, alignment_layers=(9,))
    with pytest.raises(UserError, match=r"alignment_layers=\[9\]: there is no 9"):
        Translator(toy.model, toy.vocabularies, options)


@pytest.mark.parametrize("options", [{"no_repeat_ngram_size": 2}, {"sampling_temp": 0.5}])
def test_an_alignment_model_has_a_search_of_its_own(toy, options):
    with pytest.raises(UserError, match=f"{next(iter(options))}: cannot be used with an"):
        Translator(
            toy.model,
            toy.vocabularies,
            DecodeHParams(**options),
            make_expansion=lambda *given: None,
        )
