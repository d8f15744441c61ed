"""A line that is updated in place at the bottom of a terminal, and lines above it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Literal, TextIO

# Seconds between two updates of a line that is refreshed.
INTERVAL = 0.2
# Size of terminals that do not report theirs.
_COLUMNS, _ROWS = 80, 24
# All open lines: they share the bottom of the terminal.
_open: weakref.WeakSet[MovingLine] = weakref.WeakSet()


class MovingLine:
    """A text or a bar that is drawn in place, by tqdm.

    Args:
        stream: a terminal.
        done: number of items that are already done.
        total: number of items to be done; None: there is a text, or the number is unknown.
        unit: name of an item, shown after a number.
        title: text before the bar.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        done: int = 0,
        total: int | None = None,
        unit: str = "",
        title: str = "",
    ) -> None:
        self._stream = stream
        # The package is only needed in a terminal.
        from tqdm import tqdm

        class Bar(tqdm):
            # No thread that wakes up to check whether the bar should be drawn more often.
            monitor_interval = 0

        self._bar: Any = Bar(
            desc=title or None,
            initial=done,
            total=total,
            unit=unit,
            file=stream,
            leave=False,
            ncols=_width(stream),
            nrows=_ROWS,
            bar_format=None if unit else "{desc}",
        )
        _open.add(self)

    def show(self, text: str) -> None:
        """Draw a text, cut to the width of the line."""
        self._bar.ncols = _width(self._stream)
        self._bar.set_description_str(text.replace("\n", " "))

    def advance(self, done: int) -> None:
        """Draw the bar with `done` items done."""
        self._bar.ncols = _width(self._stream)
        self._bar.update(done - self._bar.n)

    def hide(self) -> None:
        """Remove the line from the screen until it is drawn again."""
        self._bar.clear()

    def redraw(self) -> None:
        """Draw the line again, unchanged."""
        self._bar.refresh()

    def close(self) -> None:
        """Remove the line for good."""
        _open.discard(self)
        self._bar.close()


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False  # closed, or not a stream of the system


def _width(stream: TextIO) -> int:
    """Return the maximum width of a line; some terminals do not report their size."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or _COLUMNS) - 1


def print_line(text: str, stream: TextIO) -> None:
    """Print lines immediately, above any moving lines."""
    for line in list(_open):
        line.hide()
    print(text, file=stream, flush=True)
    for line in list(_open):
        line.redraw()


def close_lines() -> None:
    """Remove all moving lines."""
    for line in list(_open):
        line.close()


class Screen:
    """Prints lines; in a terminal, each line of progress replaces the one before.

    Once the terminal has been closed, lines are dropped, so that work can be finished and saved.

    Args:
        stream: stream to print to.
    """

    def __init__(self, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        self._name = stream
        self._in_terminal = is_terminal(self._stream)
        self._line: MovingLine | None = None
        self._shown = 0.0

    def __call__(self, text: str) -> None:
        """Print lines that stay."""
        with self._unless_closed():
            print_line(text, self._stream)

    def progress(self, text: str) -> None:
        """Print a line of progress; in a terminal, replace the previous one."""
        if not is_terminal(self._stream):
            self(text)
            return
        with self._unless_closed():
            if self._line is None:
                self._line = MovingLine(self._stream)
            self._line.show(text)
        self._shown = time.monotonic()

    def refresh(self, make: Callable[[], str]) -> None:
        """Show another line of progress in a terminal, at most a few times a second."""
        if time.monotonic() - self._shown >= INTERVAL and is_terminal(self._stream):
            self.progress(make())

    def close(self) -> None:
        """Remove the moving line before something else writes to the terminal."""
        if self._line is not None:
            self._line.close()
            self._line = None

    @contextlib.contextmanager
    def _unless_closed(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # A closed terminal no longer counts as one.
            closed = self._in_terminal and not is_terminal(self._stream)
            if error.errno != errno.EIO or not closed:
                raise

    @property
    def _stream(self) -> TextIO:
        found: TextIO = getattr(sys, self._name)
        return found
