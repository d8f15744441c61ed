"""Messages and progress: lines in a file, one line updated in place in a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.terminal import MovingLine, is_terminal, print_line

Log = Callable[[str], object]


def note(text: str) -> None:
    """Print to standard error; standard output is for results."""
    print_line(text, sys.stderr)


def progress(log: Log, text: str) -> None:
    """Log a line of progress, which may be replaced by the next one if the log is a `Screen`."""
    getattr(log, "progress", log)(text)


def refresh(log: Log, make: Callable[[], str]) -> None:
    """Show a line of progress, but only where lines are replaced.

    Args:
        log: a `Screen`, or anything that takes lines.
        make: returns the line.
    """
    shown = getattr(log, "refresh", None)
    if shown is not None:
        shown(make)


class Ticker:
    """Reports progress on standard error: as a bar in a terminal, else every ten seconds.

    Args:
        verb: what is done to lines.
        total: number of lines; None: unknown.
        bar: whether to allow a bar, which results printed to the terminal would disturb.
    """

    def __init__(self, verb: str, total: int | None, *, bar: bool = True) -> None:
        self._verb, self._total = verb, total
        self._has_bar = bar and is_terminal(sys.stderr)
        self._bar: MovingLine | None = None
        self.start(0)

    def start(self, done: int) -> None:
        """Start measuring the time that lines take.

        Args:
            done: number of lines that are done already.
        """
        self._before = done
        self._begin = self._last = time.monotonic()
        self._close()

    def __call__(self, done: int) -> None:
        """Report the number of lines that are done, if a report is due."""
        if self._has_bar:
            self._draw(done)
            return
        now = time.monotonic()
        if now - self._last < 10:
            return
        self._last = now
        if self._total is None:
            note(f"{self._verb} {counted(done, 'line')}")
            return
        seconds = (now - self._begin) / max(1, done - self._before) * (self._total - done)
        left = f", about {seconds / 60:.0f} min left" if seconds >= 90 else ""
        note(f"{self._verb} {done} of {counted(self._total, 'line')}{left}")

    def _draw(self, done: int) -> None:
        if self._bar is None:
            self._bar = MovingLine(
                sys.stderr, done=self._before, total=self._total, unit=" lines", title=self._verb
            )
        self._bar.advance(done)
        if done == self._total:
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
