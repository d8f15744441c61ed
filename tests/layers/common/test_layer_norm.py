from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.common.layer_norm import LayerNorm

# With a small variance, too, beside which epsilon counts.
X = np.random.default_rng(0).normal(2.0, 3.0, size=(2, 3, 4)) * [[[1.0]], [[1e-3]]]
X = X.astype("float32")


def test_wide_input_is_read_as_the_weights_are() -> None:
    wide = np.random.default_rng(0).normal(size=(2, 3, 8))
    assert wide.dtype == "float64"
    for policy in ("float32", "mixed_bfloat16"):
        layer = LayerNorm(dtype=policy)
        found = layer(wide)
        assert found.dtype == layer.compute_dtype
        np.testing.assert_array_equal(found, layer(wide.astype("float32")))
    assert LayerNorm(dtype="float64")(wide).dtype == "float64"


def test_contract(check_layer: Callable) -> None:
    check_layer(lambda dtype: LayerNorm(dtype=dtype), [X], weights=8)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "bfloat16", "float64"])
def test_equals_that_of_keras(dtype: str) -> None:
    layer = LayerNorm(dtype=dtype)
    theirs = keras.layers.LayerNormalization(epsilon=1e-6, dtype=dtype)
    for one in (layer, theirs):
        one.build(X.shape)
    randomize(layer)
    theirs.set_weights(layer.get_weights())
    assert [v.name for v in layer.weights] == [v.name for v in theirs.weights]
    found, expected = layer(X), theirs(X)
    assert found.dtype == expected.dtype
    tolerance = 0.02 if "bfloat16" in dtype else 1e-5
    np.testing.assert_allclose(
        tf.cast(found, "float32"), tf.cast(expected, "float32"), rtol=tolerance, atol=tolerance
    )
