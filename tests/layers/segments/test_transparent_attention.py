from collections.abc import Callable

import numpy as np
import reference_phrase_representation as reference
from random_weights import randomize

from t2t_phrase.layers.segments.transparent_attention import TransparentAttention

X = np.random.default_rng(0).normal(size=(2, 3, 5, 4)).astype("float32")


def make(dtype: str = "float32") -> TransparentAttention:
    return TransparentAttention(readers=2, memories=3, dtype=dtype)


def test_mixtures_equal_loops() -> None:
    layer = make()
    layer.build()
    randomize(layer, deviation=1.0)
    output = layer(X)
    assert output.shape == (2, 2, 5, 4)
    for b, reader in np.ndindex(2, 2):
        memories = [list(memory) for memory in X[b].astype("float64")]
        expected = reference.transparent(memories, np.asarray(layer.logits, "float64")[reader])
        np.testing.assert_allclose(output[b, reader], expected, atol=1e-5)
    np.testing.assert_allclose(np.sum(layer.weights_of_memories(), -1), [1, 1], atol=1e-6)


def test_it_starts_from_the_mean() -> None:
    np.testing.assert_allclose(make()(X)[:, 0], X.mean(1), atol=1e-6)


def test_contract(check_layer: Callable) -> None:
    check_layer(make, [X], weights=2 * 3)
