"""The example of every layer runs, and results have the shapes that its comments state."""

import keras
import pytest

import t2t_phrase
from tests.support.docstring_examples import example, run

LAYERS = {
    name: layer
    for name in dir(t2t_phrase.layers)
    if isinstance(layer := getattr(t2t_phrase.layers, name), type)
    and issubclass(layer, keras.Layer)
}
# Layers without an example.
REASONS = {
    "AttentionalVector": "base class",
    "LocalAttention": "base class",
    "NgramAttention": "base class",
    "NgramDistances": "part of an n-gram attention, cannot be called",
    "Score": "base class",
}


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_examples_state_shapes(name):
    code = example(LAYERS[name])
    if name in REASONS:
        assert code is None
        return
    assert code, "no example"
    assert run(code)


def test_layers_without_examples_exist():
    assert set(REASONS) <= set(LAYERS)
