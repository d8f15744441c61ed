import random
import subprocess
import sys
import types

import numpy as np
import pytest
import serve_load
from running_server import address, running, toy_servable, upper
from serve_load import Load, send, summary


def test_a_server_is_loaded_and_its_answers_are_compared():
    def fails(columns):
        if b"bad" in columns[0]:
            raise RuntimeError("no")
        return {
            **upper(columns),
            "translation": [b"A" if t == b"b" else t.upper() for t in columns[0]],
        }

    lines = [word * 3 for word in "acdefg"] * 20 + ["bad", "b"]
    random.Random(0).shuffle(lines)
    measured = []
    with running(toy_servable(run=fails)) as server:
        host = "{}:{}".format(*address(server.url))
        load = send(
            host,
            "/v1/models/toy:predict",
            lines,
            clients=8,
            memory=lambda: float(measured.append(0) or len(measured)),
        )
    found = summary(load, [line.upper() for line in lines])
    assert (found["requests"], found["failed"], found["different"]) == (122, 1, 1)
    assert sorted(load.memory) == list(range(1, 11)) and np.isfinite(load.milliseconds).all()


def test_figures():
    load = Load(["A"] * 101, np.arange(101.0), 2.0, [100.0, 104.4])
    assert summary(load, ["A"] * 101) == {
        "requests": 101,
        "failed": 0,
        "different": 0,
        "p50_ms": 50.0,
        "p95_ms": 95.0,
        "p99_ms": 99.0,
        "sentences_per_second": 50.5,
        "memory_mib": [100, 104],
    }


def test_a_server_that_does_not_start_is_told_in_full(monkeypatch):
    said = "import sys; sys.exit('error: none is not a run\\n  give another')"
    monkeypatch.setattr(serve_load, "sys", types.SimpleNamespace(executable=sys.executable))
    usual = subprocess.Popen
    monkeypatch.setattr(
        serve_load.subprocess,
        "Popen",
        lambda command, **options: usual([command[0], "-c", said], **options),
    )
    with (
        pytest.raises(SystemExit, match="the server did not start:\nerror: none is not a run\n"),
        serve_load.serving(["--output_dir=none"]),
    ):
        pass
