"""Weights that are prepared once for many searches."""

from typing import Any

import numpy as np
import pytest
from keras import tree
from random_weights import randomize

from t2t_phrase import registry
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.batch_decoder import start_decoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.output_limits import OutputLimits
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.search_weights import prepare_weights, reading
from t2t_phrase.decoding.search.translate_ids import search
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams

VOCAB = 12
INPUTS = np.array([[5, 6, 7, 8, 1], [4, 3, 1, 0, 0]], "int32")
LIMITS = np.array([3, 3], "int32")
OPTIONS = DecodeHParams(beam_size=2, return_beams=True)


# Each has layers with weights of their own.
SETS = (
    "transformer_demo",
    "phrase_heterogeneous_convkv_1_2_demo",
    "phrase_interleaved_queryk_1_2_demo",
    "phrase_representation_max_attn_ta_demo",
    "mgsa_ngram_lstm_demo",
)


def model_of(kind: str, dtype: str) -> Any:
    if kind in SETS:
        registry.discover()
        made = registry.hparams[kind]().replace(
            hidden_size=16, filter_size=16, num_hidden_layers=2, dtype_policy=dtype
        )
        built = registry.models[made.model].from_hparams(made, vocab_size=VOCAB)
        randomize(built, deviation=0.5)
        return built
    if kind == "ensemble":
        return Ensemble([model_of("transformer", dtype), model_of("luong", "float32")])
    if kind == "luong":
        hparams: Any = LuongHParams(hidden_size=8, num_hidden_layers=1, dtype_policy=dtype)
        model: Any = Luong.from_hparams(hparams, vocab_size=VOCAB)
    else:
        hparams = TransformerHParams(
            hidden_size=8, filter_size=8, num_heads=2, num_hidden_layers=1, dtype_policy=dtype
        )
        model = Transformer.from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, deviation=0.5)
    return model


def search_without(model: Any) -> Hypotheses:
    """Return what a search finds whose layers cast their weights in each step."""
    decoder = start_decoder(model, {"inputs": INPUTS}, beam_size=2, length=3)
    return beam_search(
        plain_expansion(decoder), max_lengths=LIMITS, length=3, beam_size=2, alpha=OPTIONS.alpha
    )


@pytest.mark.parametrize("kind", ["luong", "ensemble"])
def test_nothing_changes_but_the_time_of_casting(kind: str) -> None:
    model = model_of(kind, "mixed_bfloat16")
    seen = []
    inner = model.models[0] if kind == "ensemble" else model

    def spied(method: Any) -> Any:
        def spy(self: Any, *args: Any) -> Any:
            seen.extend(str(v.value.dtype) for v in self.variables if len(v.shape) > 1)
            return method(self, *args)

        return spy

    with pytest.MonkeyPatch.context() as patch:
        for name in ("prepare_memory", "step"):
            patch.setattr(type(inner), name, spied(getattr(type(inner), name)))
        found = search(model, {"inputs": INPUTS}, OutputLimits(LIMITS, 3), OPTIONS)
    assert seen and all("bfloat16" in dtype for dtype in seen)
    expected = search_without(model)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("kind", SETS)
def test_encoder_and_decoder_of_every_family_compute_the_same(kind: str) -> None:
    model = model_of(kind, "mixed_bfloat16")
    features = {"inputs": INPUTS}
    weights = prepare_weights(model)
    with reading(model, weights, constant=False):
        memory = model.prepare_memory(features, weights.folded)
    expected = model.prepare_memory(features)
    for actual, wanted in zip(tree.flatten(memory), tree.flatten(expected), strict=True):
        np.testing.assert_array_equal(actual, wanted)


def test_a_float32_model_has_nothing_to_cast() -> None:
    assert prepare_weights(model_of("transformer", "float32")).cast == {}


def test_vectors_stay_as_they_are() -> None:
    model = model_of("transformer", "mixed_bfloat16")
    cast = prepare_weights(model).cast
    assert len(cast) == sum(len(variable.shape) > 1 for variable in model.variables)
    assert all("bfloat16" in str(value.dtype) for value in cast.values())
