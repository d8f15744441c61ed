"""How many examples each property is tried on: a few, or with `-m slow` ten times as many."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("few", derandomize=True, max_examples=25, deadline=None, database=None)
settings.register_profile("many", settings.get_profile("few"), max_examples=250)


@pytest.fixture(
    scope="module", autouse=True, params=["few", pytest.param("many", marks=pytest.mark.slow)]
)
def examples(request: pytest.FixtureRequest) -> Iterator[None]:
    settings.load_profile(request.param)
    yield
    settings.load_profile("default")
