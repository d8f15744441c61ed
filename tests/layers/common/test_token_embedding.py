from collections.abc import Callable

import numpy as np

from t2t_phrase.layers.common.token_embedding import TokenEmbedding

IDS = np.array([[3, 1, 0], [2, 3, 1]], "int32")


def make(dtype: str = "float32") -> TokenEmbedding:
    return TokenEmbedding(vocab_size=5, hidden_size=16, dtype=dtype)


def test_contract(check_layer: Callable) -> None:
    check_layer(make, [IDS], weights=5 * 16)


def test_rows_are_scaled_and_padding_is_zero() -> None:
    layer = make()
    output = np.asarray(layer(IDS))
    np.testing.assert_allclose(output[0, 0], 4 * np.asarray(layer.kernel)[3], rtol=1e-6)
    np.testing.assert_array_equal(output[0, 2], np.zeros(16))
    assert np.abs(np.asarray(layer.kernel)[0]).max() > 0


def test_initial_deviation() -> None:
    layer = TokenEmbedding(vocab_size=1000, hidden_size=100)
    layer.build()
    assert abs(np.std(layer.kernel) - 0.1) < 0.002
