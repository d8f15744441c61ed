import itertools

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.dropout import _LENGTHS, _compiled_mask, dropout
from t2t_phrase.ops.random_bits import random_bits

SEED = tf.constant([3, 7], tf.int64)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_drops_at_the_rate_and_scales_the_rest(rate: float, dtype: str) -> None:
    x = tf.cast(tf.fill((200, 500), 2.0), dtype)
    y = dropout(x, rate, SEED)
    assert y.dtype == x.dtype
    found = np.asarray(tf.cast(y, tf.float32))
    kept = found != 0
    deviation = (rate * (1 - rate) / found.size) ** 0.5
    assert abs(kept.mean() - (1 - rate)) < 5 * deviation
    np.testing.assert_allclose(found[kept], 2 / (1 - rate), rtol=0.005 if dtype[0] == "b" else 1e-4)
    # Neither rows nor columns share their decisions.
    assert len(np.unique(kept, axis=0)) == 200 and len(np.unique(kept.T, axis=0)) == 500


def test_the_expectation_is_exact_at_every_rate() -> None:
    """The scale is that of the probability which 16 bits can give, not of the one asked for."""
    bits = np.asarray(random_bits(4 * 4096, SEED)).astype(int).reshape(4, 4096)
    # At the last of these rates, the first element is only just kept.
    for rate in (1e-4, 0.1, 0.99999, bits[0, 0] / 65536):
        y = np.asarray(dropout(tf.ones((4, 4096)), rate, SEED))
        threshold = round(rate * 65536) if rate < 0.9999 else 65535
        np.testing.assert_array_equal(y != 0, bits >= threshold)
        np.testing.assert_allclose(y[y != 0], 65536 / (65536 - threshold), rtol=1e-6)


def test_the_gradient_passes_where_elements_are_kept() -> None:
    x = tf.random.stateless_normal((8, 30), [1, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = dropout(x, 0.4, SEED)
    gradient = tape.gradient(y, x)
    np.testing.assert_allclose(gradient, y / x, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 3, 0), (1,), (2, 3, 128), (129,), ()])
def test_graph_unknown_shape_and_xla_equal_eager(shape: tuple[int, ...]) -> None:
    x = tf.random.stateless_normal(shape, [1, 2])
    expected = dropout(x, 0.3, SEED)
    for xla in (False, True):
        for known in (shape, [None] * len(shape)):
            graph = traced(
                lambda x: dropout(x, 0.3, SEED),
                input_signature=[tf.TensorSpec(known)],
                jit_compile=xla,
            )
            np.testing.assert_allclose(graph(x), expected, rtol=1e-6)


def test_longer_arrays_drop_the_same_elements_first() -> None:
    """So it does not matter which lengths masks are compiled for."""
    ones = tf.ones(10_000)
    for length in (1, 4, 5, 777, 8191, 8192, 8193, 10_000):
        np.testing.assert_array_equal(
            dropout(ones[:length], 0.5, SEED), dropout(ones, 0.5, SEED)[:length]
        )


def test_few_lengths_are_compiled() -> None:
    assert all(b <= 1.25 * a for a, b in itertools.pairwise(_LENGTHS))
    assert _LENGTHS[0] <= 4 and _LENGTHS[-1] > 1.8e9
    before = _compiled_mask(19661, "float32").experimental_get_tracing_count()
    for length in (1000, 1001, 5000):
        dropout(tf.ones(length), 0.3, SEED)
    # Other lengths are no other trace.
    assert _compiled_mask(19661, "float32").experimental_get_tracing_count() <= max(before, 1)
