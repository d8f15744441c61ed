"""Random choices against loops, and their frequencies."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.drawing import _fall, draw
from t2t_phrase.ops.likeliest import block_width
from t2t_phrase.ops.random_bits import random_bits

SEED = np.array([3, 7], "int32")


def by_loops(logits: np.ndarray, seed: np.ndarray) -> list[int]:
    """Return the choices, with probabilities in float64 that are added from left to right."""
    rows, bits = len(logits), np.asarray(random_bits(2 * len(logits), seed)).tolist()
    found = []
    for row, own in enumerate(logits.astype("float64")):
        probabilities = np.exp(own - own.max())
        probabilities /= probabilities.sum()
        number = ((bits[row] >> 1) * 2**16 + bits[rows + row]) / 2**30 % 1
        total = 0.0
        for place, probability in enumerate(probabilities):
            total += probability
            if number < total:
                found.append(place)
                break
    return found


def random_logits(rows: int, vocab: int, deviation: float) -> np.ndarray:
    logits = deviation * np.random.default_rng(vocab).normal(size=(rows, vocab))
    return logits.astype("float32")


@pytest.mark.parametrize(
    ("vocab", "deviation"), [(2, 1.0), (7, 1.0), (96, 0.1), (103, 2.0), (600, 1.0), (601, 8.0)]
)
def test_choices_are_those_of_loops(vocab: int, deviation: float) -> None:
    logits = random_logits(200, vocab, deviation)
    logits[::3, vocab // 2 + 1 :] = -np.inf
    found = np.asarray(draw(logits, SEED))
    assert found.dtype == "int32" and found.tolist() == by_loops(logits, SEED)
    assert np.isfinite(logits[np.arange(200), found]).all()


def test_nothing_falls_into_parts_without_a_size() -> None:
    units = np.tile(np.array([0, 3, 0, 2, 0], "int32"), (5, 1))
    part, rest = _fall(units, np.arange(5, dtype="int32")[:, None])
    assert np.asarray(part).tolist() == [1, 1, 1, 3, 3]
    assert np.asarray(rest).tolist() == [[0], [1], [2], [0], [1]]


def test_the_sizes_above_have_one_block_several_and_padding() -> None:
    widths = {vocab: block_width(vocab, 1) for vocab in (7, 600, 601)}
    assert widths[7] is None
    assert widths[600] and not 600 % widths[600]
    assert widths[601] and 601 % widths[601]


@pytest.mark.parametrize("vocab", [8, 150])
def test_frequencies_are_the_probabilities(vocab: int) -> None:
    logits = np.linspace(-2.0, 1.0, vocab).astype("float32")
    count = 40_000
    found = np.asarray(draw(np.broadcast_to(logits, (count, vocab)), SEED))
    expected = count * np.exp(logits) / np.exp(logits).sum()
    statistic = ((np.bincount(found, minlength=vocab) - expected) ** 2 / expected).sum()
    # Mean V - 1 and variance 2 (V - 1).
    assert abs(statistic - (vocab - 1)) < 4 * (2 * (vocab - 1)) ** 0.5


def test_unlikely_choices_have_their_share() -> None:
    """Half of the probability belongs to many choices of a hundred-thousandth each."""
    vocab, rows = 50_001, 400
    logits = np.zeros((rows, vocab), "float32")
    logits[:, 0] = np.log(vocab - 1)
    found = np.asarray(draw(logits, SEED))
    rare = found[found > 0]
    assert abs(len(rare) - rows / 2) < 4 * (rows / 4) ** 0.5
    assert len({*rare.tolist()}) > 0.95 * len(rare)
    assert abs(rare.mean() / vocab - 0.5) < 4 / (12 * len(rare)) ** 0.5


def test_another_seed_draws_anew() -> None:
    logits = np.zeros((500, 100), "float32")
    first = np.asarray(draw(logits, SEED))
    for seed in ([3, 8], [4, 7]):
        assert (np.asarray(draw(logits, np.array(seed, "int32"))) == first).mean() < 0.05
    np.testing.assert_array_equal(draw(logits, SEED), first)


def test_graph_unknown_count_and_xla_equal_eager() -> None:
    logits = random_logits(50, 601, 1.0)
    eager = draw(logits, SEED)
    signature = [tf.TensorSpec((None, 601)), tf.TensorSpec((2,), tf.int32)]
    for options in ({"input_signature": signature}, {"jit_compile": True}):
        np.testing.assert_array_equal(traced(draw, **options)(logits, SEED), eager)


def test_what_is_no_number_is_a_choice_still() -> None:
    logits = np.zeros((4, 103), "float32")
    logits[1], logits[2], logits[3, 50] = np.nan, -np.inf, np.nan
    for xla in (False, True):
        found = np.asarray(traced(draw, jit_compile=xla)(logits, SEED))
        assert ((found >= 0) & (found < 103)).all()
