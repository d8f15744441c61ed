"""Text files of the commands: strict reading, whole or as a stream; checks; atomic writing."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import pathlib
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, cast

from t2t_phrase.config import UserError
from t2t_phrase.io.files import (
    StrPath,
    atomic,
    expanded,
    explain_os_error,
    is_special,
    real_path,
)
from t2t_phrase.io.lines import read_lines

# Maximum bytes read of each line of a stream; far more than any model translates.
LONGEST_LINE = 2**20
_BOM = b"\xef\xbb\xbf"


def read_text(path: str) -> list[str]:
    """Return the lines of a UTF-8 file, plain or gzipped; see `lines.read_lines`.

    Raises:
        UserError: the file cannot be read, or a line is not valid UTF-8.
    """
    place = expanded(path)
    lines = []
    for number, line in enumerate(read_lines(place), start=1):
        if line is None:
            raise _not_utf8(path, number)
        lines.append(line)
    return lines


def stream_text(path: str | None, *, note: Callable[[str], object] | None = None) -> Iterator[str]:
    """Yield the lines of `read_text` one after the other, in bounded memory.

    A line longer than LONGEST_LINE is cut to that many bytes, or a few less so as not to split a
    character.

    Args:
        path: a file, plain or gzipped; None: standard input.
        note: called with a message about each line that is cut.

    Raises:
        UserError: as for `read_text`.
    """
    name = path or "standard input"
    try:
        with _opened(path) as file:
            for number, (line, cut) in enumerate(_bounded_lines(file), start=1):
                if cut and note is not None:
                    note(f"{name}:{number}: the line is cut to its first {LONGEST_LINE} bytes")
                yield _decoded(line, cut, name, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{name} is damaged: {error}") from error
    except OSError as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"cannot read {name}: {error.strerror or error}") from error


def count_lines(path: str | None, check: Callable[[str, int], object] | None = None) -> int | None:
    """Read a file once to count its lines and to find faults in it.

    Args:
        path: as for `stream_text`.
        check: called with each line and its number, from 1; raises a `UserError` if it is bad.

    Returns:
        The number of lines; None for standard input, pipes and the like, which can be read only
        once.

    Raises:
        UserError: as for `read_text`.
    """
    if path is None or is_special(path):
        return None
    number = 0
    for number, line in enumerate(stream_text(path), start=1):
        if check is not None:
            check(line, number)
    return number


def split_pair(line: str, path: str, number: int) -> tuple[str, str]:
    """Return the source and the target of a line.

    Raises:
        UserError: the line does not contain exactly one tab.
    """
    source, *targets = line.split("\t")
    if len(targets) != 1:
        raise UserError(
            f"{path}:{number}: {len(targets)} tabs; each line must be source<TAB>target"
        )
    return source, targets[0]


def check_regular(flag: str, path: str) -> None:
    """Refuse a file that is read more than once, or that identifies results, if it cannot be.

    Args:
        flag: the flag that names the file.
        path: the file, which need not exist.

    Raises:
        UserError: it is a pipe or the like.
    """
    if is_special(path):
        raise UserError(f"--{flag}={path} is not a regular file; give the name of one")


def check_writable(path: StrPath) -> None:
    """Check that a file can be written, before the work that fills it.

    Nothing that could block, such as a named pipe, is opened.

    Raises:
        UserError: the path is a folder, its folder does not exist or is not writable, or the file
            is write-protected.
    """
    place = expanded(path)
    if place.is_dir() or str(path).endswith("/"):
        raise UserError(f"{path} is a folder; give the name of a file")
    try:
        if is_special(place):
            needed = place
            if stat.S_ISSOCK(place.stat().st_mode):
                raise OSError(errno.ENXIO, "it is a socket")
        else:
            needed = real_path(place)
            _probe(needed.with_name(f"{needed.name}.tmp"))
        if needed.exists() and not os.access(needed, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise explain_os_error(error, place) from error


def write_text(path: str, lines: Sequence[str]) -> None:
    """Write a file atomically.

    Raises:
        UserError: the file cannot be written.
    """
    with (
        atomic(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(f"{line}\n" for line in lines)


def _probe(path: pathlib.Path) -> None:
    """Create a file and delete it; another process may be writing a file of this name."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        path.unlink()
    except FileExistsError:
        os.close(os.open(path, os.O_WRONLY))


def _opened(path: str | None) -> contextlib.AbstractContextManager[BinaryIO]:
    if path is None:
        if sys.stdin is None:
            raise UserError("standard input is closed; name a file to read")
        return contextlib.nullcontext(sys.stdin.buffer)
    place = expanded(path)
    return cast(BinaryIO, gzip.open(place)) if place.suffix == ".gz" else open(place, "rb")


def _bounded_lines(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Yield lines without their ends, and whether they were longer than LONGEST_LINE."""
    first = True
    # Room for a byte order mark and a line end.
    while line := file.readline(LONGEST_LINE + 8):
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(2**20)):
            pass
        line = line.rstrip(b"\r\n")
        if first:
            line = line.removeprefix(_BOM)
        first = False
        yield line[:LONGEST_LINE], len(line) > LONGEST_LINE


def _decoded(line: bytes, cut: bool, name: str, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        if cut and error.reason == "unexpected end of data":
            return line[: error.start].decode("utf-8")
        raise _not_utf8(name, number) from None


def _not_utf8(name: str, number: int) -> UserError:
    return UserError(
        f"{name}:{number}: the line is not valid UTF-8; convert the file, for example with iconv"
    )
