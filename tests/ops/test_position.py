import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_transformer as reference

from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.ngrams.attentions import InterleavedQueryK
from t2t_phrase.ops import position
from t2t_phrase.ops.masks import causal_mask, history_mask
from t2t_phrase.ops.ngram_masks import ngram_memory_mask
from t2t_phrase.ops.partition import fixed_partition, length_partition
from t2t_phrase.ops.position import (
    lengths_in_pairs,
    pair_starts,
    places_in_rows,
    positions,
    positions_at,
    positions_in_pairs,
    timing_signal,
)


@pytest.mark.parametrize("width", [2, 8, 9])
def test_timing_signal_equals_the_formula(width: int) -> None:
    times = np.array([0, 1, 2, 50, 255])
    expected = [reference.timing(time, width) for time in times]
    np.testing.assert_allclose(timing_signal(times, width), expected, atol=2e-5)


def test_timing_signal_has_a_block_of_sines_and_one_of_cosines() -> None:
    signal = np.asarray(timing_signal(np.array([0, 3]), 4))
    np.testing.assert_allclose(signal[0], [0, 0, 1, 1], atol=1e-7)
    expected = [math.sin(3), math.sin(3e-4), math.cos(3), math.cos(3e-4)]
    np.testing.assert_allclose(signal[1], expected, atol=1e-6)


def test_positions_of_a_sentence_a_history_and_a_step() -> None:
    assert np.asarray(positions(4)).tolist() == [0, 1, 2, 3]
    assert np.asarray(positions(6, beam_size=2)).tolist() == [0, 0, 1, 1, 2, 2]
    assert np.asarray(positions_at(3, 2)).tolist() == [3, 3]


def test_positions_begin_anew_with_each_pair_of_a_row() -> None:
    pairs = np.array([[1, 1, 1, 2, 3, 3, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1]])
    found = np.asarray(positions_in_pairs(pairs))
    assert found[0, :6].tolist() == [0, 1, 2, 0, 0, 1]
    assert found[1].tolist() == [*range(8)]


def test_a_pair_begins_at_another_place_on_the_other_side() -> None:
    targets, sources = np.array([[1, 2, 2, 3]]), np.array([[1, 1, 1, 2, 3, 0]])
    assert np.asarray(pair_starts(targets, sources)).tolist() == [[0, 3, 3, 4]]


def test_every_token_knows_the_length_of_its_sentence() -> None:
    assert np.asarray(lengths_in_pairs(np.array([[1, 1, 2, 3, 3, 3]]))).tolist() == [
        [2, 2, 1, 3, 3, 3]
    ]


def test_a_place_in_a_sentence_is_one_in_its_row_or_none() -> None:
    sources, targets = np.array([[1, 1, 1, 2, 2, 0]]), np.array([[1, 1, 1, 2, 2, 2, 2, 0]])
    places = np.array([[2, -1, 3, 0, 1, 2, 4, 0]])
    for width in (6, 5):  # with and without padding behind the last sentence
        found = np.asarray(places_in_rows(places, targets, sources[:, :width]))
        assert found[0, :7].tolist() == [2, -1, -1, 3, 4, -1, -1]


def packed(length: int, beam_size: int = 1) -> np.ndarray:
    """Return positions that begin anew in the middle, as those of a row of two sentences do."""
    return np.arange(length, dtype="int32") // beam_size % 3


@pytest.fixture
def pack(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that gives every module of the package other positions."""

    def patch() -> None:
        users = [
            module
            for name, module in list(sys.modules.items())
            if name.startswith("t2t_phrase.") and getattr(module, "positions", None) is positions
        ]
        assert position in users
        for module in users:
            monkeypatch.setattr(module, "positions", packed)

    return patch


X = np.random.default_rng(0).normal(size=(1, 6, 8)).astype("float32")
REAL = np.ones((1, 6), bool)


def relative() -> Any:
    layer = RelativeMultiHeadAttention(max_relative_position=9, num_heads=2, hidden_size=8)
    layer.build(X.shape)
    return lambda: layer(X, X)[1]


def interleaved() -> Any:
    layer = InterleavedQueryK(num_heads=2, hidden_size=8, orders=(1, 3), max_relative_position=9)
    layer.build(X.shape)
    return lambda: layer(X, X)[1]


USERS: dict[str, Callable[[], Any]] = {
    "causal mask": lambda: lambda: causal_mask(6),
    "history mask": lambda: lambda: history_mask(np.zeros((1, 1, 6), "int32"), 1),
    "n-gram mask": lambda: lambda: ngram_memory_mask(None, (1, 3), 6),
    "fixed partition": lambda: lambda: fixed_partition(REAL, 2),
    "length partition": lambda: lambda: length_partition(REAL),
    "relative attention": relative,
    "interleaved attention": interleaved,
}


@pytest.mark.parametrize("name", USERS)
def test_all_positions_come_from_one_place(name: str, pack: Callable[[], None]) -> None:
    """So that rows that hold several sentences need a change of this one place."""
    result = USERS[name]()
    before = np.asarray(result())
    pack()
    assert np.abs(np.asarray(result(), "float32") - before.astype("float32")).max() > 1e-3


def test_ngrams_do_not_reach_into_another_sentence(pack: Callable[[], None]) -> None:
    pack()
    mask = np.asarray(ngram_memory_mask(None, (1, 2, 3), 6))
    assert mask.astype(int).tolist() == [[[[1] * 6 + [0, 1, 1, 0, 1, 1] + [0, 0, 1, 0, 0, 1]]]]
