import pytest

from t2t_phrase.models.base import Mean
from t2t_phrase.training import progress
from t2t_phrase.training.progress import Progress, clock


@pytest.fixture
def now(monkeypatch):
    """A clock that stands still: set its first element."""
    time = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: time[0])
    return time


def reported(loss, tokens):
    return {
        "loss": Mean(loss, tokens),
        "nll": Mean(loss / 2, tokens),
        "accuracy": Mean(tokens / 4, tokens),
        "coverage": Mean(tokens, tokens * 2),
    }


def test_figures(now):
    counted = Progress(train_steps=50, step=10)
    for _ in range(4):
        counted.add(reported(30.0, 10.0), tokens=24, size=32, waited=0.5)
        now[0] += 2.0
    counted.pause(3.0)
    now[0] += 3.0
    report = counted.take()
    assert report == {
        "loss": 3.0,
        "nll": 1.5,
        "neg_log_perplexity": -1.5,
        "accuracy": 0.25,
        "coverage": 0.5,
        "tokens_per_second": 12.0,
        "steps_per_second": 0.5,
        "non_pad": 0.75,
        "input_wait": 0.25,
        "seconds_left": 72.0,
    }
    assert counted.line(report, rate=0.0012, grad_norm=0.5) == (
        "step 14/50  loss 3.0000  perplexity 4.482  accuracy 25.00%  coverage 0.5000  lr 0.0012  "
        "grad norm 0.5  12 tokens/s  non-pad 75%  input wait 25%  left 0:01:12"
    )


def test_each_report_begins_anew(now):
    counted = Progress(train_steps=4)
    counted.add(reported(1.0, 1.0), tokens=10, size=10, waited=0)
    now[0] += 1.0
    counted.take()
    counted.add(reported(8.0, 2.0), tokens=20, size=20, waited=0)
    now[0] += 1.0
    report = counted.take()
    assert (report["loss"], report["tokens_per_second"]) == (4.0, 20.0)
    assert report["seconds_left"] == 2.0


def test_compilations_say_nothing_about_the_other_updates(now):
    """As with JAX: the first updates compile a shape each, for a minute."""
    counted = Progress(train_steps=3000)
    for step in range(1, 101):
        compiled = step <= 15
        if compiled:
            now[0] += 60.0
            counted.pause_to_compile(60.0)
        now[0] += 0.5
        counted.add({}, tokens=4000, size=5000, waited=0, compiled=compiled)
        if step == 15:
            early = counted.averages()
    # Nothing else is known yet.
    assert early["tokens_per_second"] == pytest.approx(4000 / 60.5)
    assert "  left ?" in counted.line(early, rate=0.1, grad_norm=1.0)
    report = counted.take()
    assert report["tokens_per_second"] == pytest.approx(8000)
    assert report["seconds_left"] == pytest.approx(0.5 * 2900)


def test_clock():
    assert [clock(s) for s in (0, 59.6, 3725, 360000)] == [
        "0:00:00",
        "0:01:00",
        "1:02:05",
        "100:00:00",
    ]


def test_the_short_line_begins_with_the_time_left(now):
    counted = Progress(train_steps=50, step=10)
    for _ in range(4):
        counted.add(reported(30.0, 10.0), tokens=24, size=32, waited=0.5)
        now[0] += 2.0
    assert counted.short_line().startswith("step 14/50  left 0:01:12  12 tokens/s  loss 3.0000  ")
    # Nothing is taken away from the next line of the log.
    assert counted.take()["loss"] == 3.0
