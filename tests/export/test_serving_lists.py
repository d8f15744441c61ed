"""Lists of hypotheses that are served are those of the translator."""

import numpy as np
import pytest
import tensorflow as tf
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.special_ids import EOS_ID

LINES = ["the house is old", "", "dogs run", "a cat sleeps in it while dogs run"]
OPTIONS = (
    "beam_size=4,num_groups=2,diversity_strength=0.5,coverage_penalty=0.2,no_repeat_ngram_size=3,"
    "extra_length=4,return_beams=true"
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    toy = make_toy_run(tmp_path_factory.mktemp("toy"))
    # EOS is likely enough for many outputs to end.
    beta, kernel = toy.model.decoder_norm.beta, np.array(toy.model.softmax.kernel)
    beta.assign(np.ones(beta.shape))
    kernel[EOS_ID] += 0.8
    toy.model.softmax.kernel.assign(kernel)
    return toy


def test_what_is_served_is_the_same(toy):
    options = DecodeHParams().override(f"{OPTIONS},token_probabilities=true")
    module = ServingModule(toy.model, *toy.vocabularies, options.replace(return_beams=False))
    expected = Translator(toy.model, toy.vocabularies, options).translate(LINES)
    ended = sum(not each.cut for hypotheses in expected for each in hypotheses if each.text)
    assert ended > 4 and max(map(len, expected)) == 4
    found = {name: value.numpy() for name, value in module.nbest(tf.constant(LINES)).items()}
    for row, hypotheses in enumerate(expected):
        count = found["counts"][row]
        texts = [text.decode() for text in found["translations"][row, :count]]
        assert texts == [h.text for h in hypotheses]
        if not LINES[row]:
            continue
        np.testing.assert_allclose(
            found["scores"][row, :count], [h.score for h in hypotheses], rtol=1e-4
        )
        np.testing.assert_allclose(
            found["confidences"][row, :count], [h.confidence for h in hypotheses], rtol=1e-4
        )
        for beam, own in enumerate(hypotheses):
            probabilities = found["token_probabilities"][row, beam]
            np.testing.assert_allclose(
                probabilities[: own.tokens], np.exp(own.log_probabilities), rtol=1e-3
            )
            assert not probabilities[own.tokens :].any()
            pieces = toy.encoder.pieces(found["ids"][row, beam, : own.tokens])
            assert tuple(pieces) == own.pieces


def test_what_needs_python_is_not_served(toy):
    options = DecodeHParams(sampling_temp=1.0, num_samples=4, mbr=True)
    with pytest.raises(UserError, match="mbr=true: samples are compared in Python"):
        ServingModule(toy.model, *toy.vocabularies, options)
