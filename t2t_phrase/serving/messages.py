"""Messages of a server, which keeps running where they cannot be written."""

from __future__ import annotations

import contextlib

from t2t_phrase.io import reporting


def note(text: str) -> None:
    """Print to standard error, unless it is closed or its disk is full."""
    with contextlib.suppress(OSError, ValueError):
        reporting.note(text)
