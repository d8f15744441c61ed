"""What every test of faults starts from."""

import pathlib

import cases
import pytest


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> pathlib.Path:
    """A folder with all that the commands read; it must not be changed."""
    folder = tmp_path_factory.mktemp("faults") / "world"
    cases.make_world(folder)
    return folder


@pytest.fixture(scope="module", params=cases.CASES_BY_COST)
def undisturbed(request, world, tmp_path_factory):
    """A case, its folder, what an undisturbed run leaves there, and how it ended."""
    case = request.param
    folder = tmp_path_factory.mktemp("faults") / "work"
    case.prepare(world, folder)
    ended = case.run(folder)
    assert ended.code == 0, cases.describe(ended)
    return case, folder, cases.contents(folder), ended
