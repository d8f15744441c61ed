import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def memory():
    path = ROOT / "benchmarks" / "memory.py"
    spec = importlib.util.spec_from_file_location("benchmark_memory", path)
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
def test_a_training_does_not_grow(memory, tmp_path):
    found = memory.measure(tmp_path, steps=400, evaluations=40, trimmed=True)
    assert len(found) == 40
    # A leak of one batch or one set of weights for each evaluation would be more.
    assert memory.slope(found[15:]) < 2**16
