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
