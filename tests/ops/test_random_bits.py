import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.random_bits import random_bits

SEED = tf.constant([3, 7], tf.int64)


@pytest.mark.parametrize("shape", [(64, 256), (5, 3, 7), (1,), (3, 0, 2), (2, 0)])
def test_shape_and_type(shape: tuple[int, ...]) -> None:
    bits = random_bits(shape, SEED)
    assert bits.dtype == tf.uint16
    assert tuple(bits.shape) == shape


@pytest.mark.parametrize("shape", [(64, 256), (9, 37, 49)], ids=["even", "odd"])
def test_all_numbers_are_as_likely(shape: tuple[int, ...]) -> None:
    bits = np.asarray(random_bits(shape, SEED)).ravel()
    # 256 cells for each half of the bits: the statistic has mean 255 and deviation 22.6.
    for part in (bits >> 8, bits & 255):
        counts = np.bincount(part, minlength=256)
        expected = bits.size / 256
        assert ((counts - expected) ** 2 / expected).sum() < 255 + 5 * 22.6
    # Neighbours come from one word of the generator.
    centred = bits - bits.mean()
    correlation = (centred[:-1] * centred[1:]).mean() / bits.var()
    assert abs(correlation) < 5 / bits.size**0.5


def test_seeds_differ_in_both_numbers() -> None:
    seeds = ([3, 7], [3, 8], [4, 7], [3, 7 + 2**33])
    drawn = [np.asarray(random_bits((32, 32), tf.constant(seed, tf.int64))) for seed in seeds]
    for index, bits in enumerate(drawn):
        for other in drawn[:index]:
            assert (bits == other).mean() < 0.01
    np.testing.assert_array_equal(drawn[0], random_bits((32, 32), SEED))


@pytest.mark.parametrize("shape", [(4, 6, 8), (4, 3, 5)], ids=["even", "odd"])
def test_graph_unknown_shape_and_xla_equal_eager(shape: tuple[int, ...]) -> None:
    expected = random_bits(shape, SEED)
    for xla in (False, True):
        graph = traced(lambda seed: random_bits(shape, seed), jit_compile=xla)
        np.testing.assert_array_equal(graph(SEED), expected)
    unknown = traced(
        lambda x: random_bits((tf.shape(x)[0], tf.shape(x)[1], shape[2]), SEED),
        input_signature=[tf.TensorSpec((None, None, None))],
    )
    np.testing.assert_array_equal(unknown(tf.zeros(shape)), expected)
