"""Searches with a model: limits, and the options that choose between them."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.compile import compiled, traced
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import Hypotheses
from t2t_phrase.decoding.search.output_limits import (
    OutputLimits,
    longest_output,
    output_limits,
)
from t2t_phrase.decoding.search.required_terms import TERMS
from t2t_phrase.decoding.search.restrictions import BEGINS_WORD
from t2t_phrase.decoding.search.translate_ids import search, translate_ids
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.special_ids import EOS_ID

INPUTS = np.array([[5, 6, 7, 8, 1], [4, 1, 0, 0, 0], [0, 0, 0, 0, 0]], "int32")
HPARAMS = TransformerHParams(hidden_size=16, filter_size=16, num_heads=2, num_hidden_layers=1)


@pytest.fixture(scope="module")
def model() -> Transformer:
    model = Transformer.from_hparams(HPARAMS, vocab_size=12)
    randomize(model, deviation=0.4)
    # Outputs (16 numbers around 1) and the row of EOS agree: some sentences end early.
    model.decoder_norm.beta.assign(np.ones(16))
    kernel = np.array(model.softmax.kernel)
    kernel -= kernel.mean(axis=1, keepdims=True)
    kernel[EOS_ID] += 0.1
    model.softmax.kernel.assign(kernel)
    return model


def lengths(found: Hypotheses) -> np.ndarray:
    return np.count_nonzero(found.ids[:, 0], axis=1)


def log_probability(model: Transformer, source: np.ndarray, target: list[int]) -> float:
    features = {"inputs": source[None], "targets": np.array([target], "int32")}
    return -float(model.batch_loss(features).means["nll"].total)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"extra_length": 3}, [8, 5, 0]),
        ({"extra_length": 3, "max_length": 6}, [6, 5, 0]),
        ({"extra_length": 1, "max_length": 100}, [6, 3, 0]),
    ],
)
def test_output_limits_count_the_tokens_of_each_sentence(options: dict, expected: list) -> None:
    hparams = DecodeHParams(**options)
    np.testing.assert_array_equal(output_limits(INPUTS, hparams).each, expected)
    wider = np.pad(INPUTS, [(0, 0), (0, 7)])
    np.testing.assert_array_equal(output_limits(wider, hparams).each, expected)
    assert [longest_output(length, hparams) for length in (5, 2, 0)] == expected


# A term of one token, after which sentences could end.
REQUIRED = {TERMS: np.full((3, 1, 1, 1), 5, "int32"), BEGINS_WORD: np.ones(12, bool)}


@pytest.mark.parametrize(
    ("options", "restrictions"),
    [
        ({"beam_size": 1}, {}),
        ({"beam_size": 3}, {}),
        ({"beam_size": 3}, REQUIRED),
        ({"beam_size": 4, "num_groups": 2, "diversity_strength": 1.0}, {}),
    ],
    ids=["greedy", "beam", "terms", "groups"],
)
def test_outputs_respect_the_limits(model: Transformer, options: dict, restrictions: dict) -> None:
    features = {"inputs": INPUTS, **restrictions}
    hparams = DecodeHParams(extra_length=3, **options)
    found = translate_ids(model, features, hparams)
    assert found.ids.shape == (3, hparams.beam_size, 8)
    assert (lengths(found) <= [8, 5, 0]).all()
    shorter = translate_ids(model, features, hparams.replace(max_length=4))
    assert shorter.ids.shape == (3, hparams.beam_size, 4)
    longer = translate_ids(model, features, hparams.replace(min_length=4))
    rows = np.asarray(longer.ids)[:2].reshape(-1, 8)
    assert all(EOS_ID not in row[:4] for row in rows)


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"sampling_temp": 1.5}])
def test_the_score_without_a_beam_is_the_log_probability(model: Transformer, options: dict) -> None:
    found = translate_ids(model, {"inputs": INPUTS}, DecodeHParams(extra_length=3, **options))
    for i, length in enumerate(lengths(found)[:2]):
        ids = np.asarray(found.ids)[i, 0, :length].tolist()
        if 0 in ids:
            continue  # a drawn pad is no token to the loss
        np.testing.assert_allclose(
            found.scores[i, 0], log_probability(model, INPUTS[i], ids), atol=1e-4
        )


def test_the_score_of_a_beam_is_the_log_probability_over_the_penalty(model: Transformer) -> None:
    hparams = DecodeHParams(beam_size=4, alpha=0.7, extra_length=10, return_beams=True)
    found = translate_ids(model, {"inputs": INPUTS}, hparams)
    checked = 0
    for i, k in np.ndindex(2, 4):
        ids, score = np.asarray(found.ids)[i, k].tolist(), float(found.scores[i, k])
        if EOS_ID not in ids or 0 in ids[: ids.index(EOS_ID)]:
            continue
        ids = ids[: ids.index(EOS_ID) + 1]
        expected = log_probability(model, INPUTS[i], ids) / ((5 + len(ids)) / 6) ** 0.7
        np.testing.assert_allclose(score, expected, atol=1e-4)
        checked += 1
    assert checked >= 4
    scores = np.asarray(found.scores)[:2]
    assert (np.diff(scores, axis=1) <= 0).all()


def test_a_beam_that_holds_greedys_path_finds_nothing_worse(model: Transformer) -> None:
    inputs = np.random.default_rng(1).integers(2, 12, size=(24, 5)).astype("int32")
    options = {"alpha": 0.0, "extra_length": 2, "return_beams": True}
    greedy = translate_ids(model, {"inputs": inputs}, DecodeHParams(beam_size=1, extra_length=2))
    beam = translate_ids(model, {"inputs": inputs}, DecodeHParams(beam_size=40, **options))
    ended = (np.asarray(greedy.ids)[:, 0] == EOS_ID).any(axis=1)
    assert ended.sum() >= 3
    gain = (np.asarray(beam.scores)[:, 0] - np.asarray(greedy.scores)[:, 0])[ended]
    assert (gain > -1e-4).all()


@pytest.mark.parametrize("xla", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_sampling_depends_on_both_seeds_and_nothing_else(model: Transformer, xla: bool) -> None:
    inputs = np.repeat(INPUTS[:1], 16, axis=0)

    def run(random_seed: int) -> Any:
        hparams = DecodeHParams(sampling_temp=1.0, extra_length=2, random_seed=random_seed)
        return compiled(
            lambda inputs, seed: translate_ids(model, {"inputs": inputs}, hparams, seed=seed).ids,
            xla=xla,
        )

    one, other = run(0), run(1)
    drawn = np.asarray(one(inputs, np.int32(3)))
    assert len({tuple(row) for row in drawn[:, 0].tolist()}) > 4, "rows are drawn independently"
    np.testing.assert_array_equal(one(inputs, np.int32(3)), drawn)
    assert (np.asarray(one(inputs, np.int32(4))) != drawn).any()
    assert (np.asarray(other(inputs, np.int32(3))) != drawn).any()


@pytest.mark.parametrize(
    "only_the_likeliest",
    [{"sampling_keep_top_k": 1}, {"sampling_top_p": 0.0}, {"sampling_epsilon": 1.0}],
)
def test_every_filter_reaches_the_search(model: Transformer, only_the_likeliest: dict) -> None:
    options = {"extra_length": 3, "max_length": 4}
    greedy = translate_ids(model, {"inputs": INPUTS}, DecodeHParams(beam_size=1, **options))
    hparams = DecodeHParams(sampling_temp=1000.0, **only_the_likeliest, **options)
    found = translate_ids(model, {"inputs": INPUTS}, hparams)
    np.testing.assert_array_equal(found.ids, greedy.ids)


@pytest.mark.slow
def test_unknown_shapes_give_what_known_shapes_give(model: Transformer) -> None:
    """A served graph is traced once, for batches of any size and length."""
    options = {"extra_length": 3, "max_length": 7}

    def run(inputs: Any) -> list[Hypotheses]:
        return [
            translate_ids(model, {"inputs": inputs}, DecodeHParams(beam_size=size, **options))
            for size in (3, 1)
        ]

    dynamic = traced(run, input_signature=[tf.TensorSpec((None, None), tf.int32)])
    for inputs in (INPUTS, INPUTS[:1, :4], INPUTS[1:2, :2]):
        for actual, expected in zip(dynamic(inputs), run(inputs), strict=True):
            np.testing.assert_array_equal(actual.ids, expected.ids)
            np.testing.assert_allclose(actual.scores, expected.scores, atol=1e-4)


def test_limits_may_be_given(model: Transformer) -> None:
    limits = np.array([2, 3, 0], "int32")
    found = search(model, {"inputs": INPUTS}, OutputLimits(limits, 9), DecodeHParams(beam_size=2))
    assert found.ids.shape == (3, 2, 9)
    assert (lengths(found) <= limits).all()
