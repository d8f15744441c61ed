"""Windows of consecutive lines, so that long files are translated in bounded memory."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping

from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import counted

# A window ends after this many lines, or this many characters. Sentences are sorted by length
# within a window only; larger windows need less padding and more memory.
LINES = 10_000
CHARACTERS = 2**24


@dataclasses.dataclass(frozen=True)
class Window:
    """Consecutive lines of a file, and the lines of other files that belong to them.

    Attributes:
        first: number of the first line in the file, from 0.
        lines: the lines.
        beside: equally many lines of each other file, by name, in an order that tells what each is
            for.
    """

    first: int
    lines: list[str]
    beside: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def digest(self) -> str:
        """A checksum of all lines."""
        found = hashlib.sha256()
        for lines in (self.lines, *self.beside.values()):
            for line in lines:
                found.update(line.encode() + b"\n")
            found.update(b"\n\n")
        return found.hexdigest()


def windows(
    lines: Iterable[str],
    beside: Mapping[str, Iterable[str]] | None = None,
    *,
    size: int | None = None,
    characters: int | None = None,
) -> Iterator[Window]:
    """Yield the windows of a file; where they end depends on the lines alone.

    Args:
        lines: lines of the file.
        beside: lines of other files, by the names of the files.
        size: maximum number of lines in a window; None: LINES.
        characters: a window ends after the line with which it reaches this many, including those of
            the other files; None: CHARACTERS.

    Raises:
        UserError: another file has fewer or more lines.
    """
    size, characters = size or LINES, characters or CHARACTERS
    others = {name: iter(other) for name, other in (beside or {}).items()}
    window, length, number = Window(0, [], {name: [] for name in others}), 0, 0
    for number, line in enumerate(lines, start=1):
        window.lines.append(line)
        length += len(line)
        for name, other in others.items():
            found = next(other, None)
            if found is None:
                raise UserError(
                    f"{name} has only {counted(number - 1, 'line')}; there must be one per sentence"
                )
            window.beside[name].append(found)
            length += len(found)
        if len(window.lines) >= size or length >= characters:
            yield window
            window, length = Window(number, [], {name: [] for name in others}), 0
    for name, other in others.items():
        if next(other, None) is not None:
            raise UserError(
                f"{name} has more than {counted(number, 'line')}; there must be one per sentence"
            )
    if window.lines:
        yield window
