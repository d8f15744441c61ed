"""Fixtures of data generation."""

import pytest

from t2t_phrase import registry


@pytest.fixture(autouse=True)
def no_user_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep worker processes from importing the folders of earlier tests, and with them Keras."""
    monkeypatch.setattr(registry, "user_folders", list)
