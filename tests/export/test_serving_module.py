import numpy as np
import pytest
import tensorflow as tf
from toy_run import make_toy_run

from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.serving_module import ServingModule


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.mark.parametrize("max_input_size", [0, 1, 4])
def test_ids_are_padded_as_the_decoder_pads_them(toy, max_input_size):
    hparams = DecodeHParams(max_input_size=max_input_size)
    module = ServingModule(toy.model, *toy.vocabularies, hparams)
    translator = Translator(toy.model, toy.vocabularies, hparams)
    sentences = ["the house", "", "a", " ", "dogs run far away from here"]
    ids = translator.encode(sentences).ids
    (batch,) = make_batches([len(row) for row in ids], 4096)
    inputs = tf.constant(sentences)
    encoded, cut = module.source.encode(inputs, max_tokens=max_input_size)
    assert cut.numpy().tolist() == [i in translator.encode(sentences).cut for i in range(5)]
    found = encoded["inputs"].numpy()
    assert found.shape[1] == batch.shape[1]
    for row, expected in zip(found, ids, strict=True):
        assert row.tolist() == expected + [0] * (len(row) - len(expected))
    # To be scored, an empty sentence is EOS alone, and nothing is cut.
    found = module.source.encode(inputs, keep_empty=True)[0]["inputs"].numpy()
    for row, sentence in zip(found, sentences, strict=True):
        assert row[row > 0].tolist() == [*toy.encoder.encode(sentence), 1]


def test_either_side_is_cut_to_be_scored(toy):
    module = ServingModule(toy.model, *toy.vocabularies, DecodeHParams(max_input_size=4))
    short, long, other = "a", "dogs run far away from here", "dogs run far away from it"
    sources, targets = zip((short, short), (short, long), (short, other), (long, short))  # noqa: B905
    found = module.score(tf.constant(sources), tf.constant(targets))
    assert found["cut"].numpy().tolist() == [False, True, True, True]
    scores = found["log_probability"].numpy()
    # These targets begin with the same four tokens.
    assert scores[1] == pytest.approx(scores[2]) and scores[1] != pytest.approx(scores[0])


@pytest.mark.parametrize("pieces", range(5, 11))
def test_lengths_around_a_multiple_of_the_step(toy, pieces):
    module = ServingModule(toy.model, *toy.vocabularies, DecodeHParams())
    text = "日" * (pieces // 3) + "q" * (pieces % 3)
    ids = [*toy.encoder.encode(text), 1]
    (batch,) = make_batches([len(ids)], 4096)
    found = module.source.encode(tf.constant([text]))[0]["inputs"]
    np.testing.assert_array_equal(found, batch.rows([ids]))


RELATIVE = {"pos": "none", "max_relative_position": 3, "norm": "post"}


@pytest.mark.parametrize(
    "options, changes",
    [
        pytest.param("beam_size=1,extra_length=4", {}, marks=pytest.mark.slow),
        ("beam_size=2,max_length=6,min_length=3", RELATIVE),
    ],
)
def test_other_limits_and_other_models_give_what_the_decoder_gives(options, changes, tmp_path):
    toy = make_toy_run(tmp_path, **changes)
    lines = ["the house is old", "dogs run", ""]
    hparams = DecodeHParams().override(options)
    module = ServingModule(toy.model, *toy.vocabularies, hparams)
    found = module.translate(tf.constant(lines))
    expected = [h[0] for h in Translator(toy.model, toy.vocabularies, hparams).translate(lines)]
    assert [text.decode() for text in found["translation"].numpy()] == [h.text for h in expected]
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4)
