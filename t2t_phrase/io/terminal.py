"""A line that moves at the bottom of a terminal, and lines above it."""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any, Literal, TextIO

# Seconds between two looks of a line that is refreshed.
INTERVAL = 0.2
# Of terminals that do not tell their size.
_COLUMNS, _ROWS = 80, 24
# A terminal has one bottom, whoever writes there.
_open: weakref.WeakSet[MovingLine] = weakref.WeakSet()


class MovingLine:
    """A text or a bar that is drawn in place, by tqdm.

    Args:
        stream: a terminal.
        done: number of things that are done already.
        total: number of things to be done; None: there is a text, or their number is unknown.
        unit: name of a thing, after a number.
        title: before the bar.
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
        # Only what runs in a terminal needs the package.
        from tqdm import tqdm

        class Bar(tqdm):
            # Without a thread that wakes up to see whether the bar should be drawn more often.
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
        """Draw a text; what does not fit into the line is cut."""
        self._bar.ncols = _width(self._stream)
        self._bar.set_description_str(text.replace("\n", " "))

    def advance(self, done: int) -> None:
        """Draw the bar where `done` things are done."""
        self._bar.ncols = _width(self._stream)
        self._bar.update(done - self._bar.n)

    def hide(self) -> None:
        """Remove the line from the screen until it is drawn again."""
        self._bar.clear()

    def redraw(self) -> None:
        """Draw the line as it was."""
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
        return False  # closed, or no stream of the system


def _width(stream: TextIO) -> int:
    """Return the columns that a line may have; some terminals do not tell their size."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or _COLUMNS) - 1


def print_line(text: str, stream: TextIO) -> None:
    """Print lines at once, above what moves."""
    for line in list(_open):
        line.hide()
    print(text, file=stream, flush=True)
    for line in list(_open):
        line.redraw()


def close_lines() -> None:
    """Remove all lines that move."""
    for line in list(_open):
        line.close()


class Screen:
    """Prints lines; in a terminal those of progress take each other's place.

    Args:
        stream: to print to.
    """

    def __init__(self, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        self._name = stream
        self._line: MovingLine | None = None
        self._shown = 0.0

    def __call__(self, text: str) -> None:
        """Print lines that stay."""
        print_line(text, self._stream)

    def progress(self, text: str) -> None:
        """Print a line of progress; in a terminal it moves."""
        if not is_terminal(self._stream):
            print_line(text, self._stream)
            return
        if self._line is None:
            self._line = MovingLine(self._stream)
        self._line.show(text)
        self._shown = time.monotonic()

    def refresh(self, make: Callable[[], str]) -> None:
        """Show another line of progress in a terminal, a few times in a second at most."""
        if time.monotonic() - self._shown >= INTERVAL and is_terminal(self._stream):
            self.progress(make())

    def close(self) -> None:
        """Remove the line that moves, before something else writes to the terminal."""
        if self._line is not None:
            self._line.close()
            self._line = None

    @property
    def _stream(self) -> TextIO:
        found: TextIO = getattr(sys, self._name)
        return found
