import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.random_bits import random_bits

SEED = [3, 7]
XLA = pytest.mark.parametrize("xla", [False, True], ids=["one by one", "xla"])


def draw(shape: tuple[int, ...], seed: Sequence[int] = SEED, *, xla: bool = False) -> np.ndarray:
    bits = traced(lambda seed: random_bits(shape, seed), jit_compile=xla)
    return np.asarray(bits(tf.constant(seed, tf.int64)))


def pcg3d(x: int, y: int, z: int) -> tuple[int, int, int]:
    """Jarzynski and Olano (2020), Listing 5, on unbounded integers."""
    values = [(value * 1664525 + 1013904223) % 2**32 for value in (x, y, z)]

    def mix() -> None:
        for to, one, other in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            values[to] = (values[to] + values[one] * values[other]) % 2**32

    mix()
    values[:] = [value ^ value >> 16 for value in values]
    mix()
    return values[0], values[1], values[2]


@XLA
@pytest.mark.parametrize("shape", [(64, 256), (5, 3, 7), (1,), (3, 0, 2), (2, 0)])
def test_shape_and_type(shape: tuple[int, ...], xla: bool) -> None:
    bits = draw(shape, xla=xla)
    assert bits.dtype == np.uint16
    assert bits.shape == shape


@pytest.mark.parametrize("seed", [[3, 7], [0, 0], [2**31 - 2, 2**31 + 5], [1, 2**40]])
def test_programs_of_xla_draw_the_hash_of_place_and_seed(seed: list[int]) -> None:
    short = [number % (2**31 - 1) for number in seed]
    expected = [pcg3d(i, *short)[0] >> 16 for i in range(60)]
    np.testing.assert_array_equal(draw((5, 12), seed, xla=True).ravel(), expected)


@XLA
@pytest.mark.parametrize("seed", [[3, 7], [0, 0], [0, 1], [12345678, 2**28]])
@pytest.mark.parametrize("shape", [(64, 256), (9, 37, 49)], ids=["even", "odd"])
def test_all_numbers_are_as_likely(shape: tuple[int, ...], seed: list[int], xla: bool) -> None:
    bits = draw(shape, seed, xla=xla).ravel()
    # 256 cells for each half of the bits: the statistic has mean 255 and deviation 22.6.
    for part in (bits >> 8, bits & 255):
        counts = np.bincount(part, minlength=256)
        expected = bits.size / 256
        assert ((counts - expected) ** 2 / expected).sum() < 255 + 5 * 22.6
    # Neighbours may come from one word of the generator, rows are multiples of these apart.
    centred = bits - bits.mean()
    for distance in (1, 2, 4, 64, 128, 256, 512, 2048, 4096):
        correlation = (centred[:-distance] * centred[distance:]).mean() / bits.var()
        assert abs(correlation) < 5 / (bits.size - distance) ** 0.5


@XLA
def test_seeds_differ_in_both_numbers(xla: bool) -> None:
    seeds = ([3, 7], [3, 8], [4, 7], [3, 7 + 2**33])
    drawn = [draw((32, 32), seed, xla=xla) for seed in seeds]
    for index, bits in enumerate(drawn):
        for other in drawn[:index]:
            assert (bits == other).mean() < 0.01
            assert abs(np.corrcoef(bits.ravel(), other.ravel())[0, 1]) < 5 / 32
    np.testing.assert_array_equal(drawn[0], draw((32, 32), xla=xla))


@XLA
@pytest.mark.parametrize("shape", [(4, 6, 8), (4, 3, 5)], ids=["even", "odd"])
def test_unknown_shapes_draw_the_same(shape: tuple[int, ...], xla: bool) -> None:
    unknown = traced(
        lambda x: random_bits((tf.shape(x)[0], tf.shape(x)[1], shape[2]), tf.constant(SEED)),
        input_signature=[tf.TensorSpec((None, None, None))],
        jit_compile=xla,
    )
    np.testing.assert_array_equal(unknown(tf.zeros(shape)), draw(shape, xla=xla))


def test_graphs_draw_what_eager_operations_draw() -> None:
    np.testing.assert_array_equal(draw((4, 3, 5)), random_bits((4, 3, 5), tf.constant(SEED)))


UNDER_JAX = """
import os, sys
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.modules["tensorflow"] = None
import jax, numpy as np
from t2t_phrase.ops.random_bits import random_bits

seed = np.array([3, 7], "uint32")
np.save(sys.argv[1], jax.jit(lambda seed: random_bits((4, 3, 5), seed))(seed))
"""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_draws_what_tensorflow_draws_by_xla(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNDER_JAX, str(tmp_path / "bits.npy")],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"},
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "bits.npy"), draw((4, 3, 5), xla=True))
