"""Ensembles of a Transformer and a recurrent model."""

from __future__ import annotations

import dataclasses
import itertools
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import reference_beam_search
from random_weights import randomize
from tiny_recurrent import TinyHParams, TinyRecurrent

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.output_limits import OutputLimits
from t2t_phrase.decoding.search.translate_ids import search, translate_ids
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.features import PHRASES
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.vocabularies import Vocabularies

VOCAB = 7
FEATURES = {
    "inputs": np.array([[3, 4, 5, 1], [6, 1, 0, 0], [2, 2, 1, 0]], "int32"),
    "phrases": np.array([[1, 1, 2, 3], [1, 2, 0, 0], [1, 1, 2, 0]], "int32"),
    "targets": np.array([[2, 6, 1], [5, 1, 0], [3, 3, 1]], "int32"),
}
SOURCE = {name: ids for name, ids in FEATURES.items() if name != "targets"}


def transformer(seed: int, vocab_size: int = VOCAB) -> Transformer:
    hparams = TransformerHParams(hidden_size=8, filter_size=8, num_heads=2, num_hidden_layers=1)
    model = Transformer.from_hparams(hparams, vocab_size=vocab_size)
    randomize(model, seed=seed, deviation=0.5)
    return model


def recurrent(seed: int) -> TinyRecurrent:
    model = TinyRecurrent(VOCAB)
    model.build()
    randomize(model, seed=seed, deviation=0.7)
    return model


@pytest.fixture(scope="module")
def members() -> list[Any]:
    return [transformer(0), recurrent(1)]


def probabilities(model: Any, features: dict[str, np.ndarray]) -> np.ndarray:
    logits = np.asarray(model(features), "float64")
    exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_an_ensemble_of_one_model_is_that_model(members: list, count: int) -> None:
    options = DecodeHParams(beam_size=3, extra_length=3, return_beams=True)
    for model in members:
        ensemble = Ensemble([model] * count)
        np.testing.assert_allclose(
            np.exp(ensemble(FEATURES)), probabilities(model, FEATURES), atol=1e-6
        )
        np.testing.assert_allclose(
            ensemble.token_log_probabilities(FEATURES),
            model.token_log_probabilities(FEATURES),
            atol=1e-5,
        )
        found, expected = (translate_ids(m, SOURCE, options) for m in (ensemble, model))
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)


def test_probabilities_are_the_mean_of_the_members(members: list) -> None:
    mean = np.mean([probabilities(model, FEATURES) for model in members], axis=0)
    ensemble = Ensemble(members)
    np.testing.assert_allclose(np.exp(ensemble(FEATURES)), mean, atol=1e-6)
    expected = np.take_along_axis(mean, FEATURES["targets"][..., None], axis=2)[..., 0]
    np.testing.assert_allclose(
        ensemble.token_log_probabilities(FEATURES), np.log(expected), atol=1e-5
    )
    assert len(ensemble.trainable_variables) == sum(len(m.trainable_variables) for m in members)


def test_step_by_step_equals_the_whole_with_beams_that_branch(members: list) -> None:
    ensemble, beam_size, length = Ensemble(members), 3, 4
    rng = np.random.default_rng(0)
    memory = ensemble.prepare_memory(SOURCE, ensemble.fold_weights())
    cache = ensemble.start_cache(memory, beam_size, length)
    histories = np.zeros((3, beam_size, 0), "int32")
    last = np.zeros((3, beam_size), "int32")
    repeated = {name: np.repeat(ids, beam_size, axis=0) for name, ids in SOURCE.items()}
    for time in range(length):
        logits, cache, _ = ensemble.step(last, time, memory, cache)
        targets = np.pad(histories, [(0, 0), (0, 0), (0, 1)], constant_values=1)
        whole = ensemble({**repeated, "targets": targets.reshape(-1, time + 1)})
        np.testing.assert_allclose(np.reshape(logits, (-1, VOCAB)), whole[:, -1], atol=1e-5)
        parents = rng.integers(beam_size, size=(3, beam_size)).astype("int32")
        cache = ensemble.reorder(cache, parents)
        last = rng.integers(1, VOCAB, size=(3, beam_size)).astype("int32")
        histories = np.take_along_axis(histories, parents[..., None], axis=1)
        histories = np.concatenate([histories, last[..., None]], axis=2)


def test_a_beam_that_holds_everything_finds_the_best_of_all(members: list) -> None:
    length, alpha = 3, 0.6
    others = [token for token in range(VOCAB) if token != EOS_ID]
    outputs = [
        (*body, EOS_ID) for n in range(length) for body in itertools.product(others, repeat=n)
    ]
    targets = np.array([ids + (0,) * (length - len(ids)) for ids in outputs], "int32")
    options = DecodeHParams(beam_size=6**length, alpha=alpha, return_beams=True)
    limits = np.full(3, length, "int32")
    found = search(Ensemble(members), SOURCE, OutputLimits(limits, length), options)
    for i in range(3):
        batch = {name: np.repeat(ids[i : i + 1], len(outputs), 0) for name, ids in SOURCE.items()}
        batch["targets"] = targets
        mean = np.mean([probabilities(model, batch) for model in members], axis=0)
        each = np.log(np.take_along_axis(mean, targets[..., None], axis=2)[..., 0])
        scores = np.array(
            [
                row[: len(ids)].sum() / reference_beam_search.penalty(len(ids), alpha)
                for ids, row in zip(outputs, each, strict=True)
            ]
        )
        order = np.argsort(-scores)
        np.testing.assert_array_equal(found.ids[i, : len(outputs)], targets[order])
        np.testing.assert_allclose(found.scores[i, : len(outputs)], scores[order], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_a_sentence_has_the_same_translation_alone_and_in_a_batch(members: list, xla: bool) -> None:
    ensemble = Ensemble(members)
    options = DecodeHParams(beam_size=3, extra_length=3, return_beams=True)
    together = compiled(lambda features: translate_ids(ensemble, features, options), xla=xla)(
        SOURCE
    )
    for i, size in enumerate((4, 2, 3)):
        one = {name: ids[i : i + 1, :size] for name, ids in SOURCE.items()}
        alone = translate_ids(ensemble, one, options)
        np.testing.assert_array_equal(together.ids[i, :, : size + 3], alone.ids[0])
        np.testing.assert_allclose(together.scores[i], alone.scores[0], atol=1e-4)


def test_weights_are_divided_by_their_sum(members: list) -> None:
    ensemble = Ensemble(members, weights=[3, 1])
    expected = 0.75 * probabilities(members[0], FEATURES)
    expected += 0.25 * probabilities(members[1], FEATURES)
    np.testing.assert_allclose(np.exp(ensemble(FEATURES)), expected, atol=1e-6)
    own = np.take_along_axis(expected, FEATURES["targets"][..., None], axis=-1)[..., 0]
    scores = np.exp(ensemble.token_log_probabilities(FEATURES))
    real = FEATURES["targets"] > 0
    np.testing.assert_allclose(scores[real], own[real], atol=1e-6)
    memory = ensemble.prepare_memory(SOURCE)
    cache = ensemble.start_cache(memory, 1, 3)
    logits = ensemble.step(np.zeros((3, 1), "int32"), 0, memory, cache).logits
    np.testing.assert_allclose(np.exp(logits)[:, 0], expected[:, 0], atol=1e-6)
    huge = Ensemble(members, weights=[1e300, 1e-300])
    np.testing.assert_allclose(
        np.exp(huge(FEATURES)), probabilities(members[0], FEATURES), atol=1e-6
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "an ensemble of 2 models needs 2 weights, got 1"),
        ([1.0, 0.0], "must be positive numbers, got 0"),
        ([1.0, float("nan")], "must be positive numbers, got nan"),
    ],
)
def test_wrong_weights(members: list, weights: list[float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Ensemble(members, weights=weights)


class Digits:
    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]

    def decode(self, ids: list[int]) -> str:
        return " ".join(map(str, ids))


DIGITS = Vocabularies(Digits(), Digits())


@pytest.mark.slow
def test_a_translator_takes_an_ensemble_and_follows_its_members() -> None:
    models = [transformer(0), transformer(1)]
    options = DecodeHParams(beam_size=3, extra_length=4)
    translator = Translator(Ensemble(models), DIGITS, options)
    lines = ["3 4 5", "", "6 2"]
    before = translator.translate(lines)
    assert [len(found) for found in before] == [1, 1, 1]
    for model in models:
        randomize(model, seed=5, deviation=0.5)
    after = translator.translate(lines)
    assert after != before
    alone = Translator(transformer(5), DIGITS, options).translate(lines)
    assert [found[0].text for found in after] == [found[0].text for found in alone]


def test_attention_is_that_of_all_members() -> None:
    models = [recurrent(0), recurrent(1)]
    ensemble = Ensemble(models)
    memory = ensemble.prepare_memory(SOURCE)
    ids = np.zeros((3, 2), "int32")
    step = ensemble.step(ids, 0, memory, ensemble.start_cache(memory, 2, 4))
    for model, part, weights in zip(models, memory["models"], step.weights["cross"], strict=True):
        own = model.step(ids, 0, part, model.start_cache(part, 2, 4)).weights["cross"][0]
        np.testing.assert_array_equal(weights, own)
    (attention,) = ensemble.attention_maps().values()
    assert attention.title == "cross-attention"
    assert attention.layouts == tuple(
        Layout(num_heads=1, columns=(Units(partition=f"{n}/halves"),)) for n in (0, 1)
    )
    assert list(ensemble.partitions(SOURCE)) == ["0/halves", "1/halves"]


def test_features_are_those_of_all_members(members: list) -> None:
    assert Ensemble(members).hparams.features == (PHRASES,)
    assert Ensemble(members[:1]).hparams.features == ()
    other = recurrent(0)
    other.hparams = TinyHParams()
    other.hparams.features = (dataclasses.replace(PHRASES, pad=7),)
    with pytest.raises(
        UserError, match=r"different features named phrases: .*pad=0, .* and .*pad=7"
    ):
        Ensemble([*members, other])


def test_what_an_ensemble_cannot_do(members: list) -> None:
    with pytest.raises(NotImplementedError, match="no loss: train its models"):
        Ensemble.batch_loss(Ensemble(members), FEATURES)
    with pytest.raises(UserError, match="at least one model"):
        Ensemble([])
    with pytest.raises(UserError, match=r"one target vocabulary, got sizes \[7, 9\]"):
        Ensemble([members[1], transformer(0, vocab_size=9)])(FEATURES)
    assert "ensemble" not in registry.models


def test_an_ensemble_allows_what_all_members_allow(members: list) -> None:
    assert Ensemble(members).capabilities == Capabilities()
    first, second = recurrent(0), recurrent(1)
    first.capabilities = Capabilities(predicts_jumps=True, cannot_translate="no words")
    second.capabilities = Capabilities(predicts_jumps=True, cannot_score="no scores")
    found = Ensemble([first, second]).capabilities
    assert found.predicts_jumps
    assert (found.cannot_translate, found.cannot_score) == ("no words", "no scores")
    with pytest.raises(UserError, match="an alignment model predicts positions, and the"):
        Ensemble([first, *members])
    second.capabilities = Capabilities(cannot_translate="not alone")
    assert "leave this model out" in Ensemble([members[0], second]).capabilities.cannot_translate


JAX = """
import sys
sys.modules["tensorflow"] = None
import numpy as np
import test_ensemble as tests
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble

ensemble = Ensemble([tests.transformer(0), tests.recurrent(1)])
options = DecodeHParams(beam_size=3, extra_length=3, return_beams=True)
run = compiled(
    lambda features: translate_ids(ensemble, features, options), variables=ensemble.variables
)
found = run(tests.SOURCE)
logits = ensemble(tests.FEATURES)
np.savez(sys.argv[1], ids=found.ids, scores=found.scores, logits=logits)
"""


@pytest.mark.slow
def test_jax_equals_tensorflow(members: list, tmp_path: pathlib.Path) -> None:
    here = pathlib.Path(__file__).resolve().parent
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join([str(here), *sys.path])
    result = subprocess.run(
        [sys.executable, "-c", JAX, tmp_path / "found.npz"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    under_jax, ensemble = np.load(tmp_path / "found.npz"), Ensemble(members)
    options = DecodeHParams(beam_size=3, extra_length=3, return_beams=True)
    found = translate_ids(ensemble, SOURCE, options)
    np.testing.assert_array_equal(under_jax["ids"], found.ids)
    np.testing.assert_allclose(under_jax["scores"], found.scores, atol=1e-4)
    np.testing.assert_allclose(under_jax["logits"], ensemble(FEATURES), atol=1e-5)
