"""Lines of text files; only a line feed ends a line."""

from __future__ import annotations

import gzip
import pathlib
import zlib
from collections.abc import Iterator

from t2t_phrase.config import UserError

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: pathlib.Path, *, drop_mark: bool = True) -> Iterator[str | None]:
    """Yield the lines of a UTF-8 file, plain or gzipped (`.gz`); None for one that is not UTF-8.

    Windows line ends and a byte order mark are removed. U+2028, form feeds and single carriage
    returns do not end a line, since they do not in the other file of a parallel corpus.

    Args:
        path: the file.
        drop_mark: whether to remove a byte order mark. A file that this library wrote has none: its
            first line may be any line of a corpus, which U+FEFF may begin.

    Raises:
        UserError: the file cannot be read, is UTF-16, or its compression is damaged.
    """
    return map(decoded, raw_lines(path, drop_mark=drop_mark))


def raw_lines(path: pathlib.Path, *, drop_mark: bool = True) -> Iterator[bytes]:
    """Yield the lines of a file, plain or gzipped (`.gz`), as bytes with their ends.

    They are not decoded, so skipping some costs little.

    Args:
        path: the file.
        drop_mark: see `read_lines`.

    Raises:
        UserError: the file cannot be read, is UTF-16, or its compression is damaged.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                # Most of its lines would be valid UTF-8, with zeros between the letters.
                if number == 1 and line.startswith(_UTF_16):
                    raise UserError(
                        f"{path} is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW_FILE"
                    )
                yield line.removeprefix(_BOM) if number == 1 and drop_mark else line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{path} is damaged after line {number}: {error}") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error


def decoded(line: bytes) -> str | None:
    """Return the text of a line, without its end; None if it is not UTF-8."""
    try:
        return line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError:
        return None
