"""Searches that multiply by 8-bit integers, in every family."""

import functools
from typing import Any

import numpy as np
import pytest
from mostly_slow import mostly_slow
from random_weights import randomize

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import Hypotheses
from t2t_phrase.decoding.search.search_weights import ConstantWeights, prepare_weights
from t2t_phrase.decoding.search.shortlist import ALLOWED, TOKENS
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.ops import quantized

VOCAB = 40
INPUTS = np.array([[5, 6, 7, 8, 9, 1], [4, 3, 1, 0, 0, 0]], "int32")
OPTIONS = DecodeHParams(beam_size=3, extra_length=4, return_beams=True)
QUANTIZED = OPTIONS.replace(quantize="int8")
# Each has products of its own kind.
SETS = (
    "transformer_demo",
    "phrase_heterogeneous_convkv_1_2_demo",
    "phrase_interleaved_queryk_1_2_demo",
    "phrase_representation_max_attn_ta_demo",
    "mgsa_ngram_lstm_demo",
    "luong_local_p_general_feed_demo",
)
KINDS = (*SETS, "ensemble")


@functools.cache
def model_of(kind: str, dtype: str = "float32") -> Any:
    if kind == "ensemble":
        return Ensemble([model_of(SETS[0]), model_of(SETS[-1])])
    registry.discover()
    made: Any = registry.hparams[kind]()
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "dtype_policy": dtype}
    if hasattr(made, "filter_size"):
        sizes["filter_size"] = 16
    model = registry.models[made.model].from_hparams(made.replace(**sizes), vocab_size=VOCAB)
    randomize(model, deviation=0.3)
    return model


def search(model: Any, options: DecodeHParams, inputs: np.ndarray = INPUTS) -> Hypotheses:
    return translate_ids(model, {"inputs": inputs}, options)


@pytest.mark.parametrize("kind", mostly_slow(KINDS, SETS[-1]))
def test_graph_xla_and_eager_agree_and_are_close_to_float32(kind: str) -> None:
    model = model_of(kind)
    eager = search(model, QUANTIZED)
    for xla in (False, True):
        weights = prepare_weights(model, quantized=True)
        run = compiled(
            lambda weights, inputs: translate_ids(
                model, {"inputs": inputs}, QUANTIZED, weights=weights
            ),
            xla=xla,
        )
        found = run(weights, INPUTS)
        np.testing.assert_array_equal(found.ids, eager.ids)
        np.testing.assert_allclose(found.scores, eager.scores, atol=1e-4)
    exact = search(model, OPTIONS)
    # Rounding may lead to other words, here where weights are random.
    same = (np.asarray(exact.ids[:, 0]) == np.asarray(eager.ids[:, 0])).all(axis=1)
    scores = np.asarray(exact.scores[:, 0])[same]
    error = np.abs(np.asarray(eager.scores[:, 0])[same] - scores)
    assert same.any() and (error > 0).all() and (error < 0.05 * np.abs(scores)).all(), error


@pytest.mark.parametrize("kind", mostly_slow(KINDS, SETS[1]))
def test_a_sentence_alone_has_the_same_scores(kind: str) -> None:
    model = model_of(kind)
    alone, together = search(model, QUANTIZED, INPUTS[1:, :3]), search(model, QUANTIZED)
    length = alone.ids.shape[-1]
    np.testing.assert_array_equal(together.ids[1, :, :length], alone.ids[0])
    np.testing.assert_allclose(together.scores[1], alone.scores[0], atol=1e-5)


@pytest.mark.parametrize("kind", mostly_slow(KINDS, SETS[1]))
def test_every_step_multiplies_by_integers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(kind)
    widths: list[int] = []

    def seen(integers: Any, matrix: Any, constant: bool) -> Any:
        widths.append(matrix.shape[-1])
        return original(integers, matrix, constant)

    original = quantized._onednn_product
    if not quantized._onednn_is_there():
        pytest.skip("this TensorFlow has no product of 8-bit integers")
    monkeypatch.setattr(quantized, "_onednn_product", seen)
    compiled(lambda inputs: search(model, QUANTIZED, inputs), xla=False)(INPUTS)
    members = 2 if kind == "ensemble" else 1
    assert widths.count(VOCAB) == members, "the map to the vocabulary"
    assert len(widths) > 5 * members


@pytest.mark.slow
def test_models_that_compute_in_bfloat16_can_be_quantized() -> None:
    found = search(model_of(SETS[0], "mixed_bfloat16"), QUANTIZED)
    exact = search(model_of(SETS[0]), OPTIONS)
    np.testing.assert_allclose(found.scores[:, 0], exact.scores[:, 0], rtol=0.05)


def test_the_words_of_a_shortlist_keep_their_columns() -> None:
    model = model_of(SETS[0])
    tokens, allowed = np.arange(10, 20, dtype="int32"), np.ones((2, 10), bool)
    whole = prepare_weights(model, quantized=True).folded
    short = model.shorten(whole, tokens, allowed)["softmax"]
    np.testing.assert_array_equal(short.values, np.asarray(whole["softmax"].values)[:, 10:20])
    np.testing.assert_array_equal(short.largest, np.asarray(whole["softmax"].largest)[10:20])


@pytest.mark.slow
def test_every_batch_has_the_columns_of_its_own_shortlist() -> None:
    model = model_of(SETS[0])
    weights = prepare_weights(model, quantized=True)

    def run(shortlist: Any) -> Hypotheses:
        return translate_ids(
            model,
            {"inputs": INPUTS, **shortlist},
            QUANTIZED,
            weights=ConstantWeights(weights),
        )

    in_graph = compiled(run, xla=False)
    for first in (10, 20):
        tokens = np.array([0, 1, 2, *range(first, first + 7)], "int32")
        given = {TOKENS: tokens, ALLOWED: np.ones((2, 10), bool)}
        found, expected = in_graph(given), run(given)
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="quantize"):
        DecodeHParams.from_dict({"quantize": "int4"})
