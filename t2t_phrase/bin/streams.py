"""Standard input, output and error of a command: always open, and always UTF-8."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import TextIO

STANDARD_OUTPUT = "standard output"


class _StandardOutput(io.TextIOWrapper):
    """Standard output, which is named in write errors, as files are in errors of opening them."""

    def write(self, text: str) -> int:
        with _named():
            return super().write(text)

    def flush(self) -> None:
        with _named():
            super().flush()


@contextlib.contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


def restart_in_utf8() -> None:
    """Start the interpreter again in UTF-8 mode if the locale has another encoding.

    File names and arguments have been decoded by then, and libraries in C++ read file names as
    UTF-8, so changing the encoding of the streams would not be enough.
    """
    if sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def prepare() -> None:
    """Open the streams that the caller has closed, and set all of them to UTF-8."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Otherwise the next file opened would get the number, and the output of C++ code.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Code that reads standard input reports by itself that it is closed.
            if name != "stdin":
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream is sys.__stdout__:
            line_buffering = stream.line_buffering
            sys.stdout = _StandardOutput(
                stream.detach(),
                encoding="utf-8",
                errors="surrogateescape",  # file names that are not UTF-8 are written as they are
                line_buffering=line_buffering,
            )
        elif isinstance(stream, io.TextIOWrapper):
            # A stream that has already been read from keeps its encoding.
            with contextlib.suppress(io.UnsupportedOperation):
                stream.reconfigure(encoding="utf-8", errors=stream.errors)


def reader_is_gone() -> bool:
    """Return whether the reader of standard output or standard error has closed the pipe."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def write_if_possible(stream: TextIO, text: str) -> None:
    """Write to a stream that may be closed."""
    with contextlib.suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()


def discard_if_stuck(stream: TextIO) -> None:
    """Discard output that cannot be written, so that the interpreter can exit quietly."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            descriptor = stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
