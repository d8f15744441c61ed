import numpy as np
from planted_probes import VOCAB_SIZE, planted

from t2t_phrase import registry
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.states import StateReader
from t2t_phrase.probing.vectors import sentence_vectors, word_vectors
from t2t_phrase.probing.word_tokens import word_ends


def test_vectors_of_sentences_and_words():
    states = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    means = np.array(sentence_vectors(states, np.array([[5, 6, 1], [7, 1, 0]])))
    np.testing.assert_allclose(means[0], states[0].mean(0), rtol=1e-5)
    np.testing.assert_allclose(means[1], states[1, :2].mean(0), rtol=1e-5)
    words = np.array(word_vectors(states, np.array([[0, 0], [2, 1]])))
    np.testing.assert_array_equal(words, [[states[0, 0]] * 2, [states[1, 2], states[1, 1]]])
    assert not np.array(sentence_vectors(states, np.zeros((2, 3), int))).any()
    ends = np.array([[2, 1], [3, 3]])
    words = np.array(word_vectors(states, np.array([[0, 0], [2, 1]]), ends))
    expected = [[states[0, :2].mean(0), states[0, 0]], [states[1, 2], states[1, 1:].mean(0)]]
    np.testing.assert_allclose(words, expected, rtol=1e-5)


def test_words_of_several_tokens_in_a_batch():
    model = tiny_model("hidden_size=16,filter_size=16,num_heads=2,num_hidden_layers=1")
    side = EncodedSide("source", [[5, 6, 7, 8, 1], [9, 1]], [5, 2], [], {}, {})
    firsts = [[0, 2], [0]]
    ends = [word_ends(own, len(ids) - 1) for own, ids in zip(firsts, side.ids, strict=True)]
    assert ends == [[2, 4], [1]]
    found = StateReader(model).read(EncoderInputs(side, firsts, ends)).words
    alone = np.array(model.encode({"inputs": np.array([side.ids[0]])}).memory["tokens"])[0]
    np.testing.assert_allclose(found[0], [alone[:2].mean(0), alone[2:4].mean(0)], atol=1e-5)
    # Two words share a token; each has one at least.
    assert word_ends([0, 0, 1], 3) == [1, 1, 3]


def tiny_model(overrides):
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().override(overrides)
    return registry.models["transformer"].from_hparams(hparams, vocab_size=VOCAB_SIZE)


def test_states_are_the_encoders_alone_and_in_a_batch():
    model = tiny_model("hidden_size=16,filter_size=16,num_heads=2,num_hidden_layers=1")
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
    model = tiny_model("hidden_size=8,num_heads=1,num_hidden_layers=1")
    side = EncodedSide("source", [[5, 1]], [2], [], {}, {})
    states = StateReader(model).read(EncoderInputs(side, [[0] * 9]))
    assert states.words[0].shape == (9, 8)
    assert (states.words[0] == states.words[0][0]).all()
