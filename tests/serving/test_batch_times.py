import numpy as np
import pytest

from t2t_phrase.serving.batch_times import ASSUMED, FEWEST, LEAST, MOST, BatchTimes


def noted(overhead, count=200, noise=0.0, rows=lambda rng: rng.integers(1, 40)):
    times, rng = BatchTimes(), np.random.default_rng(0)
    for _ in range(count):
        size, longest = int(rows(rng)), int(rng.integers(5, 90))
        seconds = 0.001 * longest * (overhead + size) * (1 + noise * rng.normal())
        times.note(size, longest, seconds)
    return times.overhead


@pytest.mark.parametrize("overhead", [1.0, 5.0, 30.0])
def test_the_overhead_is_found(overhead):
    assert noted(overhead) == pytest.approx(overhead, rel=1e-6)
    assert noted(overhead, noise=0.05) == pytest.approx(overhead, rel=0.5, abs=1)


def test_bounds_hold():
    assert noted(0.0) == LEAST and noted(1000.0) == MOST


def test_nothing_is_known_from_a_few_batches_or_equal_ones():
    assert noted(30.0, count=FEWEST - 1) == ASSUMED
    assert noted(30.0, rows=lambda rng: 4) == ASSUMED


def test_recent_batches_count_most():
    times = BatchTimes()
    for overhead in (30.0, 2.0):
        for number in range(400):
            rows = 1 + number % 20
            times.note(rows, 10, 0.001 * 10 * (overhead + rows))
    assert times.overhead == pytest.approx(2.0, rel=0.1)
