"""Every option of the search finds the same translations under JAX and under TensorFlow."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from backend_process import needs_jax, run_under
from searches import ALONE, BEAM, FILTERS, LINES, LISTS, SAMPLES, TOGETHER, all_of, by, found_by

SCRIPT = """
import json
from searches import found_by
path, *names = sys.argv[1:]
with open(path, "w") as file:
    json.dump({name: found_by(name) for name in names}, file)
"""
# What each backend computes, and so rounds.
ROUNDED = ("score", "log_probabilities", "confidence", "expected_chrf")

# Of those together, the searches of every run of the tests.
FEW = ("restrictions", "samples")
OTHERS = [name for name in TOGETHER if name not in FEW]

by_tensorflow = functools.cache(found_by)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("jax") / "few"
    run_under(SCRIPT, path, *FEW)
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("jax") / "together"
    run_under(SCRIPT, path, *OTHERS)
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("jax") / "alone"
    run_under(SCRIPT, path, *ALONE)
    return json.loads(path.read_text())


def assert_same(lines: list[Any], expected: list[Any]) -> None:
    assert len(lines) == len(expected)
    for found, others in zip(lines, expected, strict=True):
        assert [each["text"] for each in found] == [each["text"] for each in others]
        for own, other in zip(found, others, strict=True):
            for field, value in other.items():
                same = pytest.approx(value, abs=1e-4) if field in ROUNDED and value else value
                assert own[field] == same, (field, own["text"])


@needs_jax
@pytest.mark.parametrize("name", FEW)
def test_translations_and_scores_are_the_same(name: str, few: dict[str, Any]) -> None:
    assert_same(few[name], by_tensorflow(name))


@needs_jax
@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_those_of_the_other_searches_are_the_same(name: str, together: dict[str, Any]) -> None:
    assert_same(together[name], by_tensorflow(name))


@needs_jax
@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_each_option_alone_finds_the_same(name: str, alone: dict[str, Any]) -> None:
    assert_same(alone[name], by_tensorflow(name))


@pytest.mark.slow
def test_translations_end_or_are_cut() -> None:
    every = [each for name in TOGETHER for found in by_tensorflow(name) for each in found]
    assert {each["cut"] for each in every if each["tokens"]} == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize(("options", "base"), [(LISTS, BEAM), (FILTERS, SAMPLES)])
def test_each_option_makes_a_difference_to_those_together(options: Any, base: Any) -> None:
    found = {}
    for left_out in (None, *options):
        given = all_of({name: each for name, each in options.items() if name != left_out})
        found[left_out] = str(by(base.replace(**given)).translate(LINES))
    for name in options:
        assert found[name] != found[None], name
