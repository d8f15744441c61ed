"""`head_ablation.py` removes the heads that it names, and puts them back."""

import types

import keras
import numpy as np
import pytest
from head_ablation import kinds, loss_without, measure

from t2t_phrase.config import UserError
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.ngrams.attentions import InterleavedConvKV

X = np.random.default_rng(0).normal(size=(1, 5, 8)).astype("float32")
SIZES = {"num_heads": 4, "hidden_size": 8}


def test_heads_of_a_kind_are_joined():
    columns = (Units(), Units(partition="ngram_2"), Units(partition="ngram_2"), Units())
    found = dict(kinds(Layout(num_heads=4, columns_by_head=columns)))
    assert found == {"tokens": [0, 3], "ngram_2": [1, 2]}
    found = dict(kinds(Layout(num_heads=2, columns=(Units(1), Units(2)))))
    assert found == {"tokens and 2-grams": [0, 1]}


@pytest.mark.parametrize(
    "attention",
    [
        MultiHeadAttention(**SIZES),
        InterleavedConvKV(**SIZES, orders=(1, 2), look_ahead=True),
    ],
    ids=["tokens", "2-grams"],
)
def test_a_head_adds_nothing_without_its_rows(attention):
    attention(X, X)
    kernel = attention.output_map.kernel

    def output():
        return keras.ops.convert_to_numpy(attention(X, X)[0])

    usual = output()
    alone = [
        loss_without(output, kernel, 4, [other for other in range(4) if other != head])
        for head in range(4)
    ]
    np.testing.assert_allclose(sum(alone), usual, atol=1e-6)
    for head, part in enumerate(alone):
        without = loss_without(output, kernel, 4, [head])
        np.testing.assert_allclose(without, usual - part, atol=1e-6)
    assert not loss_without(output, kernel, 4, [0, 1, 2, 3]).any()
    np.testing.assert_array_equal(output(), usual)


def test_a_model_without_heads_is_refused(monkeypatch):
    model = types.SimpleNamespace(encoder_layers=[object()])
    trained = types.SimpleNamespace(model=model, record=types.SimpleNamespace(model="luong"))
    monkeypatch.setattr("t2t_phrase.runs.load_model.load_model", lambda run: trained)
    with pytest.raises(UserError, match="runs/a: the encoder of luong has no heads"):
        measure("runs/a", "data")
