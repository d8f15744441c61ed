"""Windows of positions against loops."""

import math

import numpy as np

from t2t_phrase.ops.windows import gather_windows, gaussian, spread_windows, window_positions

RNG = np.random.default_rng(0)
B, T, S, W, R = 2, 3, 5, 4, 1
CENTRE = np.array([[0, 2, 4], [3, -2, 9]])


def test_positions_lie_around_the_centre_even_outside() -> None:
    window = np.asarray(window_positions(CENTRE, R))
    assert window.dtype == np.int32
    np.testing.assert_array_equal(window[0], [[-1, 0, 1], [1, 2, 3], [3, 4, 5]])
    np.testing.assert_array_equal(window[1], [[2, 3, 4], [-3, -2, -1], [8, 9, 10]])


def test_gathered_rows_are_those_of_their_own_sentence() -> None:
    x, window = RNG.normal(size=(B, S, W)), np.asarray(window_positions(CENTRE, R))
    found = np.asarray(gather_windows(x, window))
    assert found.shape == (B, T, 2 * R + 1, W)
    for b, t, n in np.ndindex(B, T, 2 * R + 1):
        if 0 <= window[b, t, n] < S:
            np.testing.assert_array_equal(found[b, t, n], x[b, window[b, t, n]])
    assert np.isfinite(found).all()


def test_weights_are_spread_to_their_positions() -> None:
    weights, window = RNG.uniform(size=(B, T, 3)), np.asarray(window_positions(CENTRE, R))
    expected = np.zeros((B, T, S))
    for b, t, n in np.ndindex(B, T, 3):
        if 0 <= window[b, t, n] < S:
            expected[b, t, window[b, t, n]] = weights[b, t, n]
    np.testing.assert_allclose(spread_windows(weights, window, S), expected)


def test_gaussian() -> None:
    mean = np.array([[0.5, 2.0, 3.25], [1.0, 1.0, 1.0]], "float32")
    window = np.asarray(window_positions(CENTRE, R))
    found = np.asarray(gaussian(window, mean, 1.5))
    for b, t, n in np.ndindex(B, T, 3):
        expected = math.exp(-((window[b, t, n] - mean[b, t]) ** 2) / (2 * 1.5**2))
        assert abs(found[b, t, n] - expected) < 1e-6
