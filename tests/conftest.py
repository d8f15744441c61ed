"""Fixtures shared by all tests."""

import pathlib

import pytest


@pytest.fixture(scope="session")
def shared_dir() -> pathlib.Path:
    """Corpora and fixtures that some checkouts have beside them."""
    path = pathlib.Path(__file__).resolve().parents[2] / "shared"
    if not path.is_dir():
        pytest.skip("no shared folder beside the checkout")
    return path
