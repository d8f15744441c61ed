from collections.abc import Callable

import numpy as np

from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.initializers import kernel_initializer


def make(dtype: str = "float32", dropout: float = 0.0) -> FeedForward:
    return FeedForward(hidden_size=6, filter_size=10, dropout=dropout, dtype=dtype)


def test_contract(check_layer: Callable) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 6)).astype("float32")
    check_layer(make, [x], weights=6 * 10 + 10 + 10 * 6 + 6)


def test_numbers_by_hand() -> None:
    layer = FeedForward(hidden_size=2, filter_size=3)
    layer.build((None, None, 2))
    layer.set_weights(
        [
            np.array([[1, 0, 1], [0, 1, -1]]),
            np.array([0, -10, 1]),
            np.array([[1, 0], [0, 1], [2, 2]]),
            np.array([0.5, 0.25]),
        ]
    )
    # Inner: max(0, [3, 4 - 10, 3 - 4 + 1]) = [3, 0, 0], then [-1 -> 0, 0, 3 + 1 = 4].
    np.testing.assert_allclose(layer(np.array([[[3.0, 4.0]]])), [[[3.5, 0.25]]])
    np.testing.assert_allclose(layer(np.array([[[-1.0, -4.0]]])), [[[8.5, 8.25]]])


def test_dropout_acts_in_training_only() -> None:
    layer = make(dropout=0.5)
    x = np.ones((1, 4, 6), "float32")
    np.testing.assert_array_equal(layer(x), layer(x))
    assert np.abs(layer(x, training=True) - layer(x)).max() > 0


def test_dropout_acts_between_the_maps() -> None:
    layer = make(dropout=0.5)
    layer.build((None, None, 6))
    layer.outer.bias.assign(np.arange(6))
    layer.inner_dropout = lambda x, training: 0 * x
    found = layer(np.ones((1, 4, 6), "float32"), training=True)
    np.testing.assert_array_equal(found[0], [np.arange(6)] * 4)


def test_kernels_start_uniform_with_variance_one_over_the_mean_fan() -> None:
    values = np.asarray(kernel_initializer()((300, 100)))
    assert abs(values.var() - 1 / 200) < 2e-4
    assert np.abs(values).max() <= np.sqrt(3 / 200)
