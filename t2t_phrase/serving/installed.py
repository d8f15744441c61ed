"""Checks whether the packages of the extra `serve` are installed."""

from __future__ import annotations

import importlib.util

from t2t_phrase.config import UserError

_PACKAGES = ("fastapi", "fastapi_offline", "uvicorn", "prometheus_client")


def check_installed() -> None:
    """Check that the server can be imported.

    Raises:
        UserError: a package is missing.
    """
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(
            f"t2t-phrase-serve needs {', '.join(missing)}; pip install 't2t_phrase[serve]'"
        )
