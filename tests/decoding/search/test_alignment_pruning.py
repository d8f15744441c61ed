"""Which source positions an alignment search evaluates."""

import numpy as np
from keras import ops

from t2t_phrase.decoding.search.alignment_pruning import surviving_positions


def test_a_position_as_likely_as_the_threshold_survives() -> None:
    log_probs = ops.array([[[0.0, -200.0, -200.0]]])  # exp(-200) is 0 in float32
    real = ops.array([[True, True, False]])
    kept = surviving_positions(log_probs, real, 0.0)
    np.testing.assert_array_equal(kept, [[[True, True, False]]])


def test_without_a_likely_position_all_survive() -> None:
    log_probs = ops.log(ops.array([[[0.5, 0.3, 0.2]]]))
    real = ops.array([[True, True, True]])
    for threshold, kept in ((0.25, [True, True, False]), (0.6, [True, True, True])):
        found = surviving_positions(log_probs, real, threshold)
        np.testing.assert_array_equal(found, [[kept]])
