import pathlib
from collections.abc import Sequence

import numpy as np
import pytest
import tensorflow as tf
from backend_process import needs_jax, needs_torch, run_under

from t2t_phrase.compile import traced
from t2t_phrase.ops.random_bits import random_bits

SEED = [3, 7]


def draw(count: int, seed: Sequence[int] = SEED) -> np.ndarray:
    return np.asarray(random_bits(count, tf.constant(seed, tf.int64)))


def pcg3d(x: int, y: int, z: int) -> tuple[int, int, int]:
    """Jarzynski and Olano (2020), on unbounded integers."""
    values = [(value * 1664525 + 1013904223) % 2**32 for value in (x, y, z)]

    def mix() -> None:
        for to, one, other in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            values[to] = (values[to] + values[one] * values[other]) % 2**32

    mix()
    values[:] = [value ^ value >> 16 for value in values]
    mix()
    return values[0], values[1], values[2]


@pytest.mark.parametrize("seed", [[3, 7], [0, 0], [2**31 - 2, 2**31 + 5], [1, 2**40]])
def test_bits_are_a_hash_of_place_and_seed(seed: list[int]) -> None:
    short = [number % (2**31 - 1) for number in seed]
    bits = draw(60, seed)
    assert bits.dtype == np.uint16
    np.testing.assert_array_equal(bits, [pcg3d(i, *short)[0] >> 16 for i in range(60)])
    np.testing.assert_array_equal(draw(7, seed), bits[:7])
    assert draw(0, seed).shape == (0,)


@pytest.mark.parametrize("seed", [[3, 7], [0, 0], [0, 1], [1234567, 2**28], [2**31, 2**40]])
def test_all_numbers_are_as_likely(seed: list[int]) -> None:
    bits = draw(2**17, seed)
    # 256 cells for each half of the bits: the statistic has mean 255 and deviation 22.6.
    for part in (bits >> 8, bits & 255):
        counts = np.bincount(part, minlength=256)
        expected = bits.size / 256
        assert ((counts - expected) ** 2 / expected).sum() < 255 + 5 * 22.6
    # Neighbours, and rows of the usual widths.
    centred = bits - bits.mean()
    for distance in (1, 2, 4, 64, 128, 256, 512, 2048, 4096):
        correlation = (centred[:-distance] * centred[distance:]).mean() / bits.var()
        assert abs(correlation) < 5 / (bits.size - distance) ** 0.5


def test_seeds_differ_in_both_numbers() -> None:
    seeds = ([3, 7], [3, 8], [4, 7], [7, 3], [3, 7 + 2**33])
    drawn = [draw(1024, seed) for seed in seeds]
    for index, bits in enumerate(drawn):
        for other in drawn[:index]:
            assert (bits == other).mean() < 0.01
            assert abs(np.corrcoef(bits, other)[0, 1]) < 5 / 32
    np.testing.assert_array_equal(drawn[0], draw(1024))


def test_graph_unknown_count_and_xla_equal_eager() -> None:
    expected = draw(60)
    for xla in (False, True):
        graph = traced(lambda seed: random_bits(60, seed), jit_compile=xla)
        np.testing.assert_array_equal(graph(tf.constant(SEED)), expected)
        unknown = traced(
            lambda x: random_bits(tf.size(x), tf.constant(SEED)),
            input_signature=[tf.TensorSpec((None,))],
            jit_compile=xla,
        )
        np.testing.assert_array_equal(unknown(tf.zeros(60)), expected)


ELSEWHERE = """
import keras, numpy as np
from t2t_phrase.compile import compiled
from t2t_phrase.ops.random_bits import random_bits

for place, seed in enumerate(np.load(sys.argv[1])):
    drawn = compiled(lambda seed: random_bits(60, seed))(keras.ops.convert_to_tensor(seed))
    np.save(f"{sys.argv[1]}-{place}.npy", keras.ops.convert_to_numpy(drawn))
"""


@pytest.mark.parametrize(
    "backend", [pytest.param("jax", marks=needs_jax), pytest.param("torch", marks=needs_torch)]
)
def test_other_backends_draw_what_tensorflow_draws(backend: str, tmp_path: pathlib.Path) -> None:
    seeds = [[3, 7], [2**31 - 2, 1]]
    np.save(tmp_path / "seeds.npy", np.array(seeds, "int32"))
    run_under(ELSEWHERE, tmp_path / "seeds.npy", backend=backend)
    for place, seed in enumerate(seeds):
        np.testing.assert_array_equal(np.load(tmp_path / f"seeds.npy-{place}.npy"), draw(60, seed))
