"""Work on the windows of a file, whose results go to a journal or, in order, to a stream."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from t2t_phrase.io.files import explain_os_error
from t2t_phrase.io.line_windows import Window


class Result(NamedTuple):
    """The results of one unit of work, such as a batch.

    Attributes:
        rows: places of the lines in their window, from 0.
        texts: the line to write for each.
        amount: anything that the caller wants the sum of, such as tokens.
        beside: lines for other files, as many for each ending of their names.
        counts: further sums that the caller wants, by name.
    """

    rows: Sequence[int]
    texts: Sequence[str]
    amount: float = 0.0
    beside: Mapping[str, Sequence[str]] = {}
    counts: Mapping[str, int] = {}


class Sink(Protocol):
    """Takes results, window by window.

    Attributes:
        results: number of results so far, those of earlier runs included.
        lines: number of their lines.
        amount: sum of their amounts.
        counts: sums of their counts.
    """

    results: int
    lines: int
    amount: float
    counts: Counter[str]

    def start(self, window: Window) -> set[int]:
        """Begin a window; return the places of the lines in it that are done."""

    def add(self, result: Result) -> None:
        """Take a result of the window that was started last."""

    def end(self, window: Window) -> None:
        """End a window, all of whose lines are done."""

    def finish(self) -> None:
        """End the work, after the last window."""


# Does what is left of a window, given the places that are done and the number of results so far.
Work = Callable[[Window, set[int], int], Iterator[Result]]


def run(
    parts: Iterable[Window],
    work: Work,
    sink: Sink,
    *,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Do the work on every window.

    Args:
        parts: the windows.
        work: does one; lines that are done must not change how the others are done.
        sink: where the results go.
        progress: called after each result with the number of lines done so far.
    """
    for window in parts:
        done = sink.start(window)
        if len(done) < len(window.lines):
            for result in work(window, done, sink.results):
                sink.add(result)
                if progress is not None:
                    progress(sink.lines)
        sink.end(window)
    sink.finish()


class Stream:
    """Writes the lines of each window in their order once the window is done.

    There is one file only: results must have nothing beside.

    Args:
        file: unbuffered, so that nothing is left to be written after an error.
        name: of the file in messages.
    """

    def __init__(self, file: io.RawIOBase | io.BufferedIOBase, name: str) -> None:
        self._file, self._name = file, name
        self.results = self.lines = 0
        self.amount = 0.0
        self.counts: Counter[str] = Counter()
        self._texts: list[str] = []

    def start(self, window: Window) -> set[int]:
        """Begin a window, of which nothing is done."""
        self._texts = [""] * len(window.lines)
        return set()

    def add(self, result: Result) -> None:
        """Remember a result until the end of its window."""
        self.results += 1
        self.lines += len(result.rows)
        self.amount += result.amount
        self.counts.update(result.counts)
        for row, text in zip(result.rows, result.texts, strict=True):
            self._texts[row] = text

    def end(self, window: Window) -> None:
        """Write the lines of a window.

        Raises:
            WriteError: the lines cannot be written.
            BrokenPipeError: nobody reads them any more.
        """
        del window
        content = memoryview("".join(f"{text}\n" for text in self._texts).encode())
        try:
            while content:
                content = content[self._file.write(content) or 0 :]
            self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise explain_os_error(error, self._name) from error

    def finish(self) -> None:
        """Do nothing: everything is written."""
