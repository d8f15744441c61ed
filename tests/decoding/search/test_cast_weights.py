"""Weights that are cast once for a search."""

from typing import Any

import numpy as np
import pytest
from random_weights import randomize

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.batch_decoder import start_decoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.cast_weights import with_cast_weights
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
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


def model_of(kind: str, dtype: str) -> Any:
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
    """Return what a search finds that casts weights in each step."""
    decoder = start_decoder(model, {"inputs": INPUTS}, beam_size=2, length=3)
    return beam_search(
        plain_expansion(decoder), max_lengths=LIMITS, length=3, beam_size=2, alpha=OPTIONS.alpha
    )


@pytest.mark.parametrize("kind", ["luong", "ensemble"])
def test_nothing_changes_but_the_time_of_casting(kind: str) -> None:
    model = model_of(kind, "mixed_bfloat16")
    seen = []
    inner = model.models[0] if kind == "ensemble" else model
    step = type(inner).step

    def spy(self: Any, *args: Any) -> Any:
        seen.extend(str(v.value.dtype) for v in self.variables if len(v.shape) > 1)
        return step(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(inner), "step", spy)
        found = search(model, {"inputs": INPUTS}, LIMITS, OPTIONS, length=3)
    assert seen and all("bfloat16" in dtype for dtype in seen)
    expected = search_without(model)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_an_expansion_of_a_float32_model_stays_what_it_is() -> None:
    model = model_of("transformer", "float32")
    decoder = start_decoder(model, {"inputs": INPUTS}, beam_size=2, length=3)
    expansion = plain_expansion(decoder)
    assert with_cast_weights(model, expansion) is expansion
