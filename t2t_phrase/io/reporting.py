"""Messages and progress on standard error."""

from __future__ import annotations

import sys
import time


def note(text: str) -> None:
    """Print to standard error; standard output is for results."""
    print(text, file=sys.stderr, flush=True)


class Ticker:
    """Reports progress on standard error every ten seconds.

    Args:
        verb: what is done to lines.
        total: how many there are; None: unknown.
    """

    def __init__(self, verb: str, total: int | None) -> None:
        self._verb, self._total = verb, total
        self.start(0)

    def start(self, done: int) -> None:
        """Begin to measure the time that lines take.

        Args:
            done: number of lines that are done already.
        """
        self._before = done
        self._begin = self._last = time.monotonic()

    def __call__(self, done: int) -> None:
        """Report the number of lines that are done, if it is time."""
        now = time.monotonic()
        if now - self._last < 10:
            return
        self._last = now
        if self._total is None:
            note(f"{self._verb} {done} lines")
            return
        seconds = (now - self._begin) / max(1, done - self._before) * (self._total - done)
        left = f", about {seconds / 60:.0f} min left" if seconds >= 90 else ""
        note(f"{self._verb} {done} of {self._total} lines{left}")
