"""`sublayer_ablation.py` removes the sublayers that it names, and puts them back."""

import itertools
import types

import numpy as np
import pytest
from sublayer_ablation import measure, removable, sublayers

from t2t_phrase import registry
from t2t_phrase.config import UserError

FEATURES = {"inputs": np.array([[3, 4, 1]]), "targets": np.array([[5, 6, 7, 1]])}


@pytest.fixture(scope="module")
def model():
    registry.discover()
    hparams = registry.hparams["phrase_representation_max_attn_ta_demo"]()
    hparams = hparams.override("hidden_size=8,filter_size=8,num_heads=2")
    return registry.models[hparams.model].from_hparams(hparams, vocab_size=12)


def test_kinds_have_one_part_in_each_layer(model):
    found = sublayers(model)
    assert list(found) == [
        ("encoder", "attention"),
        ("encoder", "feed_forward"),
        ("encoder", "segment"),
        ("decoder", "self"),
        ("decoder", "cross"),
        ("decoder", "feed_forward"),
        ("decoder", "segment"),
    ]
    assert {len(parts) for parts in found.values()} == {2}


def test_a_removed_sublayer_adds_nothing(model):
    found = sublayers(model)

    def output():
        return np.array(model.token_log_probabilities(FEATURES))

    usual = output()
    with removable(itertools.chain(*found.values())) as without:
        np.testing.assert_array_equal(output(), usual)
        with without(found["decoder", "cross"][1:]):
            removed = output()
        np.testing.assert_array_equal(output(), usual)
    attention = model.decoder_layers[1].cross_attention
    for weight in attention.output_map.weights:
        weight.assign(0.0 * weight)
    np.testing.assert_allclose(output(), removed, atol=1e-6)
    assert not np.allclose(removed, usual, atol=1e-4)


def test_a_model_without_such_sublayers_is_refused(monkeypatch):
    trained = types.SimpleNamespace(model=object(), record=types.SimpleNamespace(model="luong"))
    monkeypatch.setattr("t2t_phrase.runs.load_model.load_model", lambda run: trained)
    with pytest.raises(UserError, match="runs/a: luong has no sublayers with residual connections"):
        measure("runs/a", "data")
