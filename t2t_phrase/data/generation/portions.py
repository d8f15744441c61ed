"""Stages plain training sets: each process reads the pairs of some shards and skips all others."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from t2t_phrase.data.generation.dealing import deal, dealt_to
from t2t_phrase.data.generation.faults import Faults, find_faults, joined
from t2t_phrase.data.generation.open_files import allow_open_files
from t2t_phrase.data.generation.workers import gathered
from t2t_phrase.data.sources.corpus import Corpus, Pair
from t2t_phrase.io.files import explain_os_error
from t2t_phrase.text.whitespace import normalize_whitespace

# Lines that are written to a file at a time.
_LINES = 200


@dataclasses.dataclass(frozen=True, kw_only=True)
class Portion:
    """The part of a training set without side streams that one process stages.

    Attributes:
        corpus: the raw pairs.
        files: source and target file of each shard that is written, by the shard's number.
        shards: the number of all shards.
        max_characters: a longer side is a fault.
        max_cases: number of pairs that are read from the corpus; 0: all.
    """

    corpus: Corpus
    files: dict[int, tuple[pathlib.Path, pathlib.Path]]
    shards: int
    max_characters: int
    max_cases: int

    def split(self, number: int) -> list[Portion]:
        """Return up to `number` portions that together make up this one, none without shards."""
        owned = [sorted(self.files)[start::number] for start in range(number)]
        return [
            dataclasses.replace(self, files={shard: self.files[shard] for shard in own})
            for own in owned
            if own
        ]


@dataclasses.dataclass
class StagedPortion:
    """The result of staging a portion.

    Attributes:
        pairs: number of pairs written.
        faults: faults of all pairs of its shards.
        sums: SHA-256 of the files, by name.
    """

    pairs: int
    faults: Faults
    sums: dict[str, str]


def stage_portions(
    portions: Sequence[Portion], *, read: Callable[[], object], waiting: Callable[[], object]
) -> StagedPortion:
    """Stage portions of a training set, each in its own process if there are several.

    Args:
        portions: portions that have no shard in common.
        read: called for each pair, if there is one portion.
        waiting: called periodically, if there are several portions.

    Raises:
        UserError: the corpus is faulty, the disk is full, or a process was killed.
    """
    if len(portions) == 1:
        return stage_portion(portions[0], read)
    tasks = [(portion,) for portion in portions]
    done = gathered(stage_portion, tasks, workers=len(portions), waiting=waiting)
    return StagedPortion(
        sum(part.pairs for part in done),
        joined(part.faults for part in done),
        {name: sha256 for part in done for name, sha256 in part.sums.items()},
    )


def stage_portion(portion: Portion, read: Callable[[], object] = int) -> StagedPortion:
    """Write the clean pairs of a portion's shards; those with a fault are dropped.

    Args:
        portion: what to write.
        read: called for each pair.

    Raises:
        UserError: the corpus is faulty, the disk is full, or not so many files may be open.
    """
    faults, written = Faults(), 0
    allow_open_files(2 * len(portion.files))
    with contextlib.ExitStack() as stack:
        files = {
            shard: tuple(stack.enter_context(_Lines(path)) for path in paths)
            for shard, paths in portion.files.items()
        }
        for index, pair in _pairs(portion):
            read()
            clean = [normalize_whitespace(text or "") for text in pair.texts]
            # A text that is not UTF-8 is empty here.
            if not all(clean) or len(max(map(str, pair.texts), key=len)) > portion.max_characters:
                for kind, place in find_faults(pair, max_characters=portion.max_characters):
                    faults.add(kind, index, place)
                continue
            for file, text in zip(files[deal(index, portion.shards)], clean, strict=False):
                file.add(text)
            written += 1
        sums = {file.path.name: file.finish() for pair_of in files.values() for file in pair_of}
    return StagedPortion(written, faults, sums)


def _pairs(portion: Portion) -> Iterator[tuple[int, Pair]]:
    found = portion.corpus.some("train", dealt_to(portion.files, portion.shards))
    if most := portion.max_cases:
        return itertools.takewhile(lambda numbered: numbered[0] < most, found)
    return found


class _Lines:
    """A text file that is written in pieces, and its checksum; a context manager."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._lines: list[str] = []
        self._sha256 = hashlib.sha256()
        try:
            # Another task that has finished removes the folder while it is empty.
            path.parent.mkdir(exist_ok=True)
            self._file: IO[bytes] = open(path, "wb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise explain_os_error(error, path) from error

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, text: str) -> None:
        """Add a line."""
        self._lines.append(text)
        if len(self._lines) == _LINES:
            self._write()

    def finish(self) -> str:
        """Write the remaining lines to disk; return the SHA-256."""
        self._write()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise explain_os_error(error, self.path) from error
        return self._sha256.hexdigest()

    def _write(self) -> None:
        if not self._lines:
            return
        content = ("\n".join(self._lines) + "\n").encode()
        self._lines.clear()
        self._sha256.update(content)
        left = memoryview(content)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise explain_os_error(error, self.path) from error
