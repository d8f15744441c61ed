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
        texts: the output for each of these lines.
        amount: any quantity that the caller wants summed, such as tokens.
        beside: equally many lines for other files, by the ending of the file's name.
        counts: further quantities that the caller wants summed, by name.
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
        lines: number of the results' lines.
        amount: sum of the results' amounts.
        counts: sums of the results' counts.
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


# Does the rest of a window, given the places that are done and the number of results so far.
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
        work: does one window; lines that are done must not affect the results of the others.
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
    """Writes the lines of each window in order once the window is done.

    There is only one file: `Result.beside` must be empty.

    Args:
        file: an unbuffered file, so that nothing is left to be written after an error.
        name: name of the file, for messages; None: standard output.
    """

    def __init__(self, file: io.RawIOBase | io.BufferedIOBase, name: str | None) -> None:
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
            BrokenPipeError: the lines are no longer read.
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
        """Do nothing: everything has been written."""
