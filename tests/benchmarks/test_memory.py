import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "benchmarks" / "memory.py"


@pytest.fixture(scope="module")
def memory():
    spec = importlib.util.spec_from_file_location("benchmark_memory", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_slope_is_that_of_the_best_line(memory):
    assert memory.slope([5.0, 7.0, 9.0]) == pytest.approx(2.0)
    assert memory.slope([5.0, 9.0, 5.0, 9.0, 5.0]) == pytest.approx(0.0)


def test_the_resident_memory_grows_with_what_is_used(memory):
    before = memory.resident()
    used = bytearray(b"x" * 2**26)
    assert memory.resident() - before > len(used) / 2


@pytest.mark.slow
def test_a_training_does_not_grow():
    process = subprocess.run(
        [sys.executable, SCRIPT, "--steps=400", "--evaluations=40", "--trim"],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout.splitlines()[-1])
    assert found["evaluations"] == 40
    # A leak of one batch, or of the figures of each step, would be more.
    assert found["kib_per_evaluation"] < 20
