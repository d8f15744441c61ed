"""Messages about sentences that get flat trees, since their parses do not fit."""

from __future__ import annotations

from t2t_phrase.io.reporting import note

# The most sentences that are listed.
LISTED = 10


class FlatTreeNotes:
    """Reports the first messages; there may be one for every line of a file."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, text: str) -> None:
        """Report a message, if it is among the first."""
        self._count += 1
        if self._count <= LISTED:
            note(text)
        elif self._count == LISTED + 1:
            note("further sentences with flat trees are not listed")
