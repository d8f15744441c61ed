"""Signals that stop a training."""

import os
import signal

import pytest

from t2t_phrase.training.signals import StopRequest


@pytest.fixture
def heard():
    """The signals that reach the handlers outside of a request."""
    numbers = []
    before = {
        asking: signal.signal(asking, lambda number, frame: numbers.append(number))
        for asking in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    }
    yield numbers
    for asking, handler in before.items():
        signal.signal(asking, handler)


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_first_one_is_stored(heard, asked):
    with StopRequest() as stop:
        assert stop.signal is None
        os.kill(os.getpid(), asked)
        assert stop.signal == asked and heard == []
    os.kill(os.getpid(), asked)
    assert heard == [asked]


def test_a_second_one_has_its_usual_effect(heard):
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.signal == signal.SIGHUP and heard == [signal.SIGINT]


def test_a_closing_terminal_sends_two(heard):
    with StopRequest() as stop:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
        assert stop.signal == signal.SIGHUP and heard == []


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ignored_ones_stay_ignored(heard, asked):
    signal.signal(asked, signal.SIG_IGN)
    with StopRequest() as stop:
        os.kill(os.getpid(), asked)
        assert stop.signal is None
    assert signal.getsignal(asked) == signal.SIG_IGN
