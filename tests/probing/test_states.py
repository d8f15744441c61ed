import numpy as np
from planted_probes import VOCAB_SIZE, planted

from t2t_phrase import registry
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.states import StateReader
from t2t_phrase.probing.vectors import sentence_vectors, word_vectors


def test_vectors_of_sentences_and_words():
    states = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    means = np.array(sentence_vectors(states, np.array([[5, 6, 1], [7, 1, 0]])))
    np.testing.assert_allclose(means[0], states[0].mean(0), rtol=1e-5)
    np.testing.assert_allclose(means[1], states[1, :2].mean(0), rtol=1e-5)
    words = np.array(word_vectors(states, np.array([[0, 0], [2, 1]])))
    np.testing.assert_array_equal(words, [[states[0, 0]] * 2, [states[1, 2], states[1, 1]]])
    assert not np.array(sentence_vectors(states, np.zeros((2, 3), int))).any()


def test_states_are_the_encoders_alone_and_in_a_batch():
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().override(
        "hidden_size=16,filter_size=16,num_heads=2,num_hidden_layers=1"
    )
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=VOCAB_SIZE)
    inputs, _ = planted("word")
    own = inputs["dev"]
    done = []
    states = StateReader(model, batch_size=64).read(own, progress=done.append)
    assert done[-1] == len(own.words) == len(states.words) and done == sorted(done)
    for line in (0, 7, 31):
        ids = np.array([own.side.ids[line]])
        alone = np.array(model.encode({"inputs": ids}).memory["tokens"])[0]
        np.testing.assert_allclose(states.sentences[line], alone.mean(0), atol=1e-5)
        np.testing.assert_allclose(states.words[line], alone[:-1], atol=1e-5)
    assert StateReader(model).read(own, with_words=False).words is None


def test_more_words_than_tokens():
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().override(
        "hidden_size=8,num_heads=1,num_hidden_layers=1"
    )
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=VOCAB_SIZE)
    side = EncodedSide("source", [[5, 1]], [2], [], {}, {})
    states = StateReader(model).read(EncoderInputs(side, [[0] * 9]))
    assert states.words[0].shape == (9, 8)
    assert (states.words[0] == states.words[0][0]).all()
