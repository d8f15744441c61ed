"""A browser for all tests of pages in one process."""

from collections.abc import Iterator

import pytest
from browser import Browser, start_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    yield from start_browser()
