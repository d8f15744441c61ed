import pathlib
from collections.abc import Callable

import numpy as np
import pytest
from backend_process import needs_jax, run_under

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


@needs_jax
@pytest.mark.slow
def test_gradients_of_frequent_tokens_do_not_stagnate_in_bfloat16(tmp_path: pathlib.Path) -> None:
    run_under(_SUMS, tmp_path / "sums.npy")
    np.testing.assert_allclose(np.load(tmp_path / "sums.npy"), 4000 * 2.0, rtol=0.01)


# The sum of as many ones in bfloat16 would be 256.
_SUMS = """
import jax, keras, numpy as np
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
layer = TokenEmbedding(vocab_size=5, hidden_size=4, dtype="mixed_bfloat16")
layer.build()

def total(kernel):
    with keras.StatelessScope(state_mapping=[(layer.kernel, kernel)]):
        return keras.ops.sum(keras.ops.cast(layer(np.full((200, 20), 3)), "float32"))

np.save(sys.argv[1], jax.grad(total)(layer.kernel.value)[3])
"""
