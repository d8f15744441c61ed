import keras
import numpy as np
import pytest

from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.ops.dropout import dropout

X = np.random.default_rng(0).normal(size=(4, 6, 8)).astype("float32")


def test_only_training_drops() -> None:
    layer = Dropout(0.5)
    np.testing.assert_array_equal(layer(X), X)
    layer.seed_generator.state.assign([3, 7])
    drawn = layer(X, training=True)
    np.testing.assert_array_equal(drawn, dropout(X, 0.5, np.array([3, 7])))


def test_every_call_draws_anew() -> None:
    layer = Dropout(0.5)
    first, second = (np.asarray(layer(X, training=True)) for _ in range(2))
    assert (first != second).any()


def test_rate_zero_needs_no_randomness() -> None:
    layer = Dropout(0.0)
    assert not layer.variables
    np.testing.assert_array_equal(layer(X, training=True), X)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_a_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be in"):
        Dropout(rate)


def test_config_brings_the_layer_back() -> None:
    layer = Dropout(0.3, name="drop", dtype="mixed_bfloat16")
    made = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(made) is Dropout
    assert made.get_config() == layer.get_config()
    assert keras.backend.standardize_dtype(made(X, training=True).dtype) == "bfloat16"
