"""The text files that clean pairs are written to."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.dealing import deal
from t2t_phrase.data.generation.open_files import allow_open_files
from t2t_phrase.data.sources.corpus import Pair
from t2t_phrase.io.files import explain_os_error


class Outputs(NamedTuple):
    """The files that pairs are written to.

    Attributes:
        dealt: for each shard, the paths of its source, its target and each of
            `feature_streams(features)`; `deal` distributes the pairs over the shards.
        whole: paths of files that get all pairs, one for each text of a pair and then one for each
            stream; or none.
    """

    dealt: Sequence[Sequence[pathlib.Path]]
    whole: Sequence[pathlib.Path]


@dataclasses.dataclass(frozen=True)
class OutputFiles:
    """The open files of `Outputs`.

    Attributes:
        dealt: see `Outputs`.
        whole: see `Outputs`.
        dealt_streams: the places in `Pair.side` of the lines that are dealt.
    """

    dealt: Sequence[Sequence[TextIO]]
    whole: Sequence[TextIO]
    dealt_streams: Sequence[int]

    def write(self, index: int, pair: Pair) -> None:
        """Write a pair, whose texts are not None.

        Args:
            index: of the pair among all that were read, which decides its shard.
            pair: the pair.

        Raises:
            UserError: the pair has fewer or more references than the first one, or the disk is
                full.
        """
        columns = [*map(str, pair.texts), *pair.side]
        if self.dealt:
            row = [*columns[:2], *(pair.side[stream] for stream in self.dealt_streams)]
            for file, text in zip(self.dealt[deal(index, len(self.dealt))], row, strict=True):
                _write(file, text)
        if self.whole and len(columns) != len(self.whole):
            raise UserError(
                f"{pair.names[-1]}:{pair.line}: {len(pair.texts) - 1} references, but "
                f"{len(self.whole) - len(pair.side) - 1} at the start of the set"
            )
        for file, text in zip(self.whole, columns, strict=False):
            _write(file, text)

    def to_disk(self) -> None:
        """Make sure that everything is on disk.

        Raises:
            UserError: the disk is full.
        """
        for file in (*self.whole, *(file for group in self.dealt for file in group)):
            _to_disk(file)


@contextlib.contextmanager
def open_outputs(outputs: Outputs, dealt_streams: Sequence[int]) -> Iterator[OutputFiles]:
    """Open files for pairs, and close them at the end.

    Args:
        outputs: their paths.
        dealt_streams: see `OutputFiles`.

    Raises:
        UserError: a file cannot be opened.
    """
    allow_open_files(sum(map(len, outputs.dealt)) + len(outputs.whole))
    with contextlib.ExitStack() as stack:
        dealt = [[_open(stack, path) for path in group] for group in outputs.dealt]
        whole = [_open(stack, path) for path in outputs.whole]
        yield OutputFiles(dealt, whole, dealt_streams)


def _open(stack: contextlib.ExitStack, path: pathlib.Path) -> TextIO:
    try:
        file = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
    except OSError as error:
        raise explain_os_error(error, path) from error
    stack.callback(_close, file)
    return file


def _close(file: TextIO) -> None:
    # If `_to_disk` could not write, closing cannot either; the first error is the one to report.
    with contextlib.suppress(OSError):
        file.close()


def _write(file: TextIO, text: str) -> None:
    try:
        file.write(text + "\n")
    except OSError as error:
        raise explain_os_error(error, pathlib.Path(file.name)) from error


def _to_disk(file: TextIO) -> None:
    # Buffered text is written here, so a full disk may become apparent only now.
    try:
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise explain_os_error(error, pathlib.Path(file.name)) from error
