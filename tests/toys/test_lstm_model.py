"""The toy LSTM through the protocol: teacher-forced, step by step, in a search and under JAX."""

import importlib.util
import pathlib
from typing import Any

import numpy as np
import pytest
import reference_beam_search
import tensorflow as tf
from lstm_model import ToyLstm, ToyLstmHParams
from random_weights import randomize
from under_backend import assert_same_under

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids

VOCAB = 4
INPUTS = np.array([[3, 2, 2, 1, 0], [2, 3, 1, 0, 0], [3, 3, 2, 3, 1]], "int32")
TARGETS = np.array([[2, 3, 1, 0], [3, 1, 0, 0], [2, 2, 3, 1]], "int32")
FEATURES = {"inputs": INPUTS, "targets": TARGETS}


@pytest.fixture(scope="module")
def model() -> ToyLstm:
    model = ToyLstm.from_hparams(ToyLstmHParams(hidden_size=8), vocab_size=VOCAB)
    randomize(model, deviation=0.8)
    return model


def test_padding_changes_nothing(model: ToyLstm) -> None:
    logits, scores = model(FEATURES), model.token_log_probabilities(FEATURES)
    for b in range(len(INPUTS)):
        own = {name: ids[b : b + 1, : np.count_nonzero(ids[b])] for name, ids in FEATURES.items()}
        length = own["targets"].shape[1]
        np.testing.assert_allclose(logits[b, :length], model(own)[0], atol=1e-6)
        expected = tf.nn.log_softmax(logits[b, :length])
        np.testing.assert_allclose(
            scores[b, :length],
            tf.gather(expected, own["targets"][0], batch_dims=1, axis=1),
            atol=1e-5,
        )


def test_step_by_step_equals_the_whole_and_starts_from_the_source(model: ToyLstm) -> None:
    beams = np.stack([TARGETS, TARGETS[::-1]], axis=1)  # (B, K, T)
    memory = model.prepare_memory({"inputs": INPUTS})
    cache = model.start_cache(memory, 2, 4)
    steps = []
    for time in range(4):
        ids = beams[:, :, time - 1] if time else np.zeros((3, 2), "int32")
        steps.append(model.step(ids, time, memory, cache))
        parents = np.array([[1, 0]] * 3)  # exchange the beams and back
        cache = model.reorder(model.reorder(steps[-1].cache, parents), parents)
    logits = np.stack([step.logits for step in steps], axis=2)
    weights = np.stack([step.weights["cross"][0] for step in steps], axis=3)  # (B, 1, K, T, S)
    for beam in range(2):
        features = {"inputs": INPUTS, "targets": beams[:, beam]}
        np.testing.assert_allclose(logits[:, beam], model(features), atol=1e-5)
        (whole,) = model.attention_weights(features)["cross"]
        np.testing.assert_allclose(weights[:, :, beam], whole, atol=1e-6)
        np.testing.assert_allclose(np.sum(whole, axis=-1), 1.0, atol=1e-6)
    assert set(model.attention_maps()) == {"cross"}
    # Before the first token, only the source can make a difference.
    assert np.abs(np.diff(logits[:, 0, 0], axis=0)).min() > 1e-4


@pytest.mark.parametrize("xla", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_beams_equal_exhaustive_search(model: ToyLstm, xla: bool) -> None:
    length, alpha = 4, 0.6
    options = DecodeHParams(
        # As many beams as there are unfinished outputs: the search cannot lose one.
        beam_size=27,
        alpha=alpha,
        max_length=length,
        return_beams=True,
    )
    run = compiled(lambda ids: translate_ids(model, {"inputs": ids}, options), xla=xla)
    found = run(INPUTS)
    for b, source in enumerate(INPUTS):

        def log_probs(prefix: Any, source: Any = source) -> Any:
            return table(model, source, length)[prefix]

        every = reference_beam_search.exhaustive(
            log_probs, vocab_size=VOCAB, max_length=length, alpha=alpha
        )
        assert len(every) == 1 + 3 + 9 + 27
        for k, (ids, score) in enumerate(every[:10]):
            np.testing.assert_array_equal(found.ids[b, k], [*ids, *[0] * (length - len(ids))])
            np.testing.assert_allclose(found.scores[b, k], score, atol=1e-4)


_tables: dict[Any, Any] = {}


def table(model: ToyLstm, source: np.ndarray, length: int) -> dict[Any, Any]:
    """Return the log-probabilities after every prefix, each from a teacher-forced pass."""
    key = source.tobytes()
    if key not in _tables:
        prefixes = [()]
        for _ in range(length - 1):
            prefixes += [
                (*p, token) for p in prefixes for token in (0, 2, 3) if (*p, token) not in prefixes
            ]
        targets = np.array([[*p, *[1] * (length - len(p))] for p in prefixes], "int32")
        inputs = np.repeat(source[None], len(prefixes), axis=0)
        rows = tf.nn.log_softmax(model({"inputs": inputs, "targets": targets})).numpy()
        _tables[key] = {p: row[len(p)].tolist() for p, row in zip(prefixes, rows, strict=True)}
    return _tables[key]


def test_mixed_precision(model: ToyLstm) -> None:
    hparams = ToyLstmHParams(hidden_size=8, dtype_policy="mixed_bfloat16")
    mixed = ToyLstm.from_hparams(hparams, vocab_size=VOCAB, target_vocab_size=VOCAB)
    mixed.set_weights(model.get_weights())
    np.testing.assert_allclose(mixed(FEATURES), model(FEATURES), atol=0.2)
    found = translate_ids(mixed, {"inputs": INPUTS}, DecodeHParams(beam_size=2, extra_length=2))
    assert np.isfinite(found.scores).all()
    assert np.isfinite(mixed.batch_loss(FEATURES, training=True).objective)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.slow
def test_the_same_under_jax(model: ToyLstm, tmp_path: pathlib.Path) -> None:
    options = DecodeHParams(beam_size=3, max_length=6, return_beams=True)
    assert_same_under({"lstm": model}, FEATURES, options, tmp_path)
