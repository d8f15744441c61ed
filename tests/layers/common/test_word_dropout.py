"""Word dropout against its definition."""

import keras
import numpy as np
import pytest

from t2t_phrase.compile import traced
from t2t_phrase.layers.common.word_dropout import WordDropout
from t2t_phrase.ops.random_bits import random_bits

IDS = np.random.default_rng(0).integers(0, 30, (40, 50)).astype("int32")


def test_only_training_drops() -> None:
    layer = WordDropout(0.5)
    np.testing.assert_array_equal(layer(IDS), IDS)
    layer.seed_generator.state.assign([3, 7])
    found = np.asarray(layer(IDS, training=True))
    bits = np.asarray(random_bits(IDS.size, np.array([3, 7]))).reshape(IDS.shape)
    for place, token in np.ndenumerate(IDS):
        dropped = token > 1 and bits[place] < 0.5 * 65536
        assert found[place] == (2 if dropped else token)
    assert found.dtype == IDS.dtype


def test_the_share_is_the_rate_and_every_call_draws_anew() -> None:
    layer = WordDropout(0.2)
    first, second = (np.asarray(layer(IDS, training=True)) for _ in range(2))
    assert (first != second).any()
    words = IDS > 2
    assert (first[words] == 2).mean() == pytest.approx(0.2, abs=0.03)
    np.testing.assert_array_equal(first[IDS < 2], IDS[IDS < 2])


def test_xla_drops_the_same_words_in_any_shape() -> None:
    layer = WordDropout(0.3)

    def drop(ids: object, seed: object) -> object:
        with keras.StatelessScope(state_mapping=[(layer.seed_generator.state, seed)]):
            return layer(ids, training=True)

    seed = np.array([5, 9], layer.seed_generator.state.dtype)
    plain = traced(drop)(IDS, seed)
    np.testing.assert_array_equal(plain, traced(drop, jit_compile=True)(IDS, seed))
    np.testing.assert_array_equal(plain, drop(IDS, seed))


def test_symbolic_words_remain_words() -> None:
    ids = keras.Input((None,), dtype="int32")
    found = WordDropout(0.5)(ids)
    assert found.dtype == "int32" and found.shape == (None, None)


def test_rate_zero_needs_no_randomness() -> None:
    layer = WordDropout(0.0)
    assert not layer.variables
    np.testing.assert_array_equal(layer(IDS, training=True), IDS)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_a_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be in"):
        WordDropout(rate)


def test_config_brings_the_layer_back() -> None:
    layer = WordDropout(0.3, name="drop")
    made = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(made) is WordDropout and made.get_config() == layer.get_config()
