"""Probabilities of jumps, against the formula for each."""

import numpy as np
import pytest
from reference_aligner import transition

from t2t_phrase.word_aligner import jumps


@pytest.mark.parametrize("length", [1, 2, 5])
def test_transitions_are_normalised_weights_of_jumps(length):
    weights = np.random.default_rng(length).uniform(0.1, 2, 11)
    by_jump = {jump: weights[jump + 5] for jump in range(-5, 6)}
    found = jumps.transitions(weights, length)
    for before in range(length + 1):
        for after in range(1, length + 1):
            expected = transition(by_jump, before, after, length, jumps.UNIFORM)
            assert found[before, after - 1] == pytest.approx(expected)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_moves_count_for_their_jump():
    counts = np.zeros(11)
    jumps.add_counts(counts, np.array([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]))
    # From 0, 1, 2 to 1, 2.
    assert counts[5 - 1 : 5 + 3].tolist() == [100.0, 210.0, 21.0, 2.0] and counts.sum() == 333


def test_jumps_that_never_occurred_remain_possible():
    found = jumps.transitions(np.zeros(7), 3)
    np.testing.assert_allclose(found, np.full((4, 3), 1 / 3))
