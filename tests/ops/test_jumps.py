"""Jumps and the probabilities of positions, against loops."""

import numpy as np

from t2t_phrase.ops.hard_attention import hard_attention
from t2t_phrase.ops.jumps import BEFORE, CLASSES, MOST, jumps_of, position_log_probs

ALIGNMENT = np.array([[0, 3, 3, 1], [150, 49, 150, 300]], "int32")


def test_jumps_are_clipped_and_the_first_is_counted_from_before_the_source() -> None:
    found = jumps_of(ALIGNMENT)
    np.testing.assert_array_equal(found.previous, [[-1, 0, 3, 3], [-1, 150, 49, 150]])
    jumps = np.asarray(found.classes) - MOST
    np.testing.assert_array_equal(jumps, [[1, 3, 0, -2], [100, -100, 100, 100]])
    np.testing.assert_array_equal(found.clipped, [[False] * 4, [True, True, True, True]])


def test_a_jump_of_exactly_the_most_is_not_clipped() -> None:
    found = jumps_of(np.array([[100, 200, 99]], "int32"))
    np.testing.assert_array_equal(found.clipped, [[True, False, True]])
    np.testing.assert_array_equal(found.classes[0], [200, 200, 0])


def test_the_first_jump_of_each_sentence_of_a_row_begins_before_its_source() -> None:
    found = jumps_of(np.array([[2, 0, 4, 1]], "int32"), np.array([[0, 1, 0, 1]]))
    np.testing.assert_array_equal(found.previous, [[-1, 2, -1, 4]])
    np.testing.assert_array_equal(np.asarray(found.classes) - MOST, [[3, -2, 5, -3]])


def test_positions_have_the_probabilities_of_their_jumps() -> None:
    log_probs = np.random.default_rng(0).normal(size=(2, 3, CLASSES)).astype("float32")
    previous = np.array([[BEFORE, 0, 119], [5, 60, 7]], "int32")
    found = np.asarray(position_log_probs(log_probs, previous, 120))
    for b in range(2):
        for k in range(3):
            for place in range(120):
                jump = max(-100, min(100, place - previous[b, k]))
                assert found[b, k, place] == log_probs[b, k, jump + 100]


def test_hard_attention_reads_one_position() -> None:
    value = np.random.default_rng(1).normal(size=(2, 4, 3)).astype("float32")
    places = np.array([[3, -1, 0], [4, 1, 1]], "int32")
    found = np.asarray(hard_attention(value, places))
    for b in range(2):
        for i, place in enumerate(places[b]):
            expected = value[b, place] if 0 <= place < 4 else np.zeros(3)
            np.testing.assert_array_equal(found[b, i], expected)
