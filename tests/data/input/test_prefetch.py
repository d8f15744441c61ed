import itertools
import threading
import time

import pytest

from t2t_phrase.data.input import prefetch
from t2t_phrase.data.input.prefetch import Prefetcher


def test_order_is_kept_and_the_end_is_found():
    with Prefetcher(iter(range(50)), depth=3) as items:
        assert list(items) == list(range(50))
        assert list(items) == []


def test_runs_ahead_by_depth_only():
    taken = []

    def source():
        for number in itertools.count():
            taken.append(number)
            yield number

    with Prefetcher(source(), depth=2) as items:
        assert next(items) == 0
        deadline = time.monotonic() + 120
        while len(taken) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert len(taken) == 4  # one consumed, two waiting, one in hand


def test_errors_reach_the_consumer():
    def source():
        yield 1
        raise ValueError("broken")

    with Prefetcher(source()) as items:
        assert next(items) == 1
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                next(items)


def test_close_ends_the_thread():
    before = set(threading.enumerate())
    items = Prefetcher(itertools.count())
    started = set(threading.enumerate()) - before
    next(items)
    items.close()
    assert started and not started & set(threading.enumerate())


def test_waiting_is_measured(monkeypatch):
    now, asked = [10.0], threading.Event()

    def clock():
        read = now[0]
        asked.set()
        return read

    def source():
        # The consumer waits from then on.
        assert asked.wait(120)
        now[0] += 3
        yield 1

    monkeypatch.setattr(prefetch.time, "perf_counter", clock)
    with Prefetcher(source()) as items:
        next(items)
        assert items.waited == 3.0
