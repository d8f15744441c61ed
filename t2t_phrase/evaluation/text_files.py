"""Text files of the commands: strict reading, atomic writing."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.data.lines import read_lines
from t2t_phrase.files import atomic, explain_os_error

_BOM = b"\xef\xbb\xbf"


def read_text(path: str) -> list[str]:
    """Return the lines of a UTF-8 file, plain or gzipped; see `data.lines.read_lines`.

    Raises:
        UserError: the file cannot be read, or a line is not valid UTF-8.
    """
    place = pathlib.Path(path).expanduser()
    lines = []
    for number, line in enumerate(read_lines(place), start=1):
        if line is None:
            raise _not_utf8(path, number)
        lines.append(line)
    return lines


def decode_stream(stream: Iterable[bytes], name: str) -> Iterable[str]:
    """Yield the lines of a stream, decoded as by `read_text`.

    Args:
        stream: lines of bytes, such as `sys.stdin.buffer`.
        name: name of the stream in messages.

    Raises:
        UserError: a line is not valid UTF-8.
    """
    for number, line in enumerate(stream, start=1):
        if number == 1 and line.startswith(_BOM):
            line = line[len(_BOM) :]
        try:
            yield line.rstrip(b"\r\n").decode("utf-8")
        except UnicodeDecodeError:
            raise _not_utf8(name, number) from None


def read_pairs(path: str) -> list[tuple[str, str]]:
    """Return the pairs of a file with `source<TAB>target` in each line.

    Raises:
        UserError: as for `read_text`, or if a line does not contain exactly one tab.
    """
    pairs = []
    for number, line in enumerate(read_text(path), start=1):
        source, *targets = line.split("\t")
        if len(targets) != 1:
            raise UserError(
                f"{path}:{number}: {len(targets)} tabs; each line must be source<TAB>target"
            )
        pairs.append((source, targets[0]))
    return pairs


def check_writable(path: str) -> None:
    """Check that a file can be written, before the work that fills it.

    Raises:
        UserError: its folder does not exist or is not writable.
    """
    place = pathlib.Path(path).expanduser()
    if place.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file")
    probe = place.with_name(f".{place.name}.probe")
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise explain_os_error(error, place) from error


def write_text(path: str, lines: Sequence[str]) -> None:
    """Write a file atomically.

    Raises:
        UserError: the file cannot be written.
    """
    with (
        atomic(pathlib.Path(path).expanduser()) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(f"{line}\n" for line in lines)


def _not_utf8(name: str, number: int) -> UserError:
    return UserError(
        f"{name}:{number}: the line is not valid UTF-8; convert the file, for example with iconv"
    )
