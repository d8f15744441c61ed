import math

import numpy as np
import pytest
import reference_transformer as reference

from t2t_phrase.ops.position import timing_signal


@pytest.mark.parametrize("width", [2, 8, 9])
def test_timing_signal_equals_the_formula(width: int) -> None:
    positions = np.array([0, 1, 2, 50, 255])
    expected = [reference.timing(position, width) for position in positions]
    np.testing.assert_allclose(timing_signal(positions, width), expected, atol=2e-5)


def test_timing_signal_has_a_block_of_sines_and_one_of_cosines() -> None:
    signal = np.asarray(timing_signal(np.array([0, 3]), 4))
    np.testing.assert_allclose(signal[0], [0, 0, 1, 1], atol=1e-7)
    expected = [math.sin(3), math.sin(3e-4), math.cos(3), math.cos(3e-4)]
    np.testing.assert_allclose(signal[1], expected, atol=1e-6)
