"""Sources of sentence pairs: parallel text files, or any other class that yields pairs."""

from __future__ import annotations

import abc
import itertools
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.inputs import Inputs, checksum, named
from t2t_phrase.data.sources.misalignment import first_shifted_line
from t2t_phrase.data.sources.mteval import read_mteval
from t2t_phrase.data.sources.side_files import (
    count_mismatch,
    find_side_files,
    side_lines,
    text_column,
)
from t2t_phrase.data.sources.text_size import text_size
from t2t_phrase.features import Feature
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.lines import decoded, raw_lines, read_lines

SPLITS = ("train", "dev", "test")


class Pair(NamedTuple):
    """One source sentence, its references, and their origin.

    Attributes:
        texts: the source and one or more references; None for a line that is not UTF-8.
        names: the file each text comes from.
        line: the line in those files, from 1.
        side: one line for each of the side streams of the corpus (alignments, trees, ...).
        side_names: the file each of those lines comes from.
    """

    texts: tuple[str | None, ...]
    names: tuple[str, ...]
    line: int
    side: tuple[str, ...] = ()
    side_names: tuple[str, ...] = ()


class Corpus(abc.ABC):
    """Raw sentence pairs of a problem, split by split.

    Attributes:
        skips: whether `some` skips unwanted pairs cheaply, so that several processes may read a
            part each.
    """

    skips: ClassVar[bool] = False

    @abc.abstractmethod
    def pairs(self, split: str) -> Iterator[Pair]:
        """Yield the pairs of "train", "dev" or "test" in a fixed order.

        Raises:
            UserError: the raw data are missing, or their files do not belong together.
        """

    @abc.abstractmethod
    def splits(self) -> tuple[str, ...]:
        """Return the names of the existing splits."""

    def some(self, split: str, wanted: Callable[[int], bool]) -> Iterator[tuple[int, Pair]]:
        """Yield the wanted pairs of `pairs`, each with its number in the split, from 0.

        Args:
            split: as in `pairs`.
            wanted: tells whether the pair with a given number is wanted.

        Raises:
            UserError: as for `pairs`.
        """
        return (found for found in enumerate(self.pairs(split)) if wanted(found[0]))

    def text_bytes(self, split: str) -> int:
        """Return the approximate size of a split's text in bytes; 0: unknown."""
        del split
        return 0

    def inputs(self) -> Inputs:
        """Return the available raw files; data made from different files are never mixed.

        Raises:
            UserError: a file cannot be read.
        """
        return Inputs()

    def notes(self) -> Iterator[str]:
        """Yield a sentence for everything about the raw files that users should know."""
        return iter(())

    def side_streams(self) -> tuple[str, ...]:
        """Return the names of the lines that accompany each pair, in the order of `Pair.side`.

        Features are made from the streams that they name, see `Feature.side_stream`; other streams
        are only kept. If there are any, the training text is kept as well.
        """
        return ()


class TextCorpus(Corpus):
    """Parallel files with one sentence per line, plain or gzipped, or NIST's SGML sets.

    Args:
        files: the parts of each split; each part consists of the source file and one or more
            reference files with equally many lines, or a `.sgm` source set and its reference sets.
        features: features whose side files to look for, see `find_side_files`.

    Raises:
        UserError: only some of the files have side files of a stream.
    """

    skips = True

    def __init__(
        self,
        files: Mapping[str, Sequence[Sequence[pathlib.Path]]],
        features: Sequence[Feature] = (),
    ) -> None:
        self._files = files
        self._side_files = find_side_files(files, features)
        self._columns = {f.side_stream: text_column(f.file_side) for f in features}

    def splits(self) -> tuple[str, ...]:
        """Return the splits that have files."""
        return tuple(split for split in SPLITS if self._files.get(split))

    def inputs(self) -> Inputs:
        """Return the files by name, with the SHA-256 of those that exist.

        Raises:
            UserError: a file cannot be read.
        """
        names = iter(self.names())
        parts = {
            split: [[next(names)[0] for _ in part] for part in parts]
            for split, parts in self._files.items()
            if parts
        }
        side = {
            stream: tuple(next(names)[0] for _ in paths)
            for stream, paths in self._side_files.items()
        }
        files = {path for _, path in self.names() if path.is_file()}
        found = {path: checksum(path) for path in files}
        checksums = {name: found[path] for name, path in self.names() if path in found}
        return Inputs(checksums, parts, side)

    def names(self) -> list[tuple[str, pathlib.Path]]:
        """Return all text files and then all side files, each with a unique name."""
        text = (path for parts in self._files.values() for part in parts for path in part)
        side = (path for paths in self._side_files.values() for path in paths.values())
        return named((*text, *side))

    def side_streams(self) -> tuple[str, ...]:
        """Return the streams of the side files that exist."""
        return tuple(self._side_files)

    def pairs(self, split: str) -> Iterator[Pair]:
        """Yield the lines of the split's parts, one part after the other.

        Raises:
            UserError: a file is missing or damaged, or the files of a part differ in length.
        """
        for part in self._files[split]:
            yield from self._with_side_lines(pairs_of(part), part)

    def some(self, split: str, wanted: Callable[[int], bool]) -> Iterator[tuple[int, Pair]]:
        """Yield the wanted pairs; the lines of others are not decoded.

        Raises:
            UserError: as for `pairs`.
        """
        if self._side_files or any(map(_is_sgml, self._files[split])):
            return super().some(split, wanted)
        return some_of_parts([tuple(part) for part in self._files[split]], wanted)

    def text_bytes(self, split: str) -> int:
        """Return the approximate size of the split's files in bytes, uncompressed."""
        beside = [paths for paths in self._side_files.values()]
        return sum(
            text_size(path) + sum(text_size(paths[path]) for paths in beside if path in paths)
            for part in self._files.get(split, ())
            for path in part
        )

    def _with_side_lines(
        self, pairs: Iterator[Pair], part: Sequence[pathlib.Path]
    ) -> Iterator[Pair]:
        texts = {stream: part[self._columns[stream]] for stream in self._side_files}
        beside = [(text, self._side_files[stream][text]) for stream, text in texts.items()]
        names = tuple(str(side) for _, side in beside)
        columns = [side_lines(side) for _, side in beside]
        count = 0
        for pair in pairs:
            lines = [next(column, None) for column in columns]
            if None in lines:
                sentences = count + 1 + sum(1 for _ in pairs)
                raise count_mismatch(*beside[lines.index(None)], sentences)
            count += 1
            yield pair._replace(side=tuple(map(str, lines)), side_names=names)
        for files, column in zip(beside, columns, strict=True):
            if next(column, None) is not None:
                raise count_mismatch(*files, count)


def some_of_parts(
    parts: Sequence[Sequence[pathlib.Path]], wanted: Callable[[int], bool]
) -> Iterator[tuple[int, Pair]]:
    """Yield the wanted pairs of parallel files, one part after the other.

    Args:
        parts: parts, each of a source file and its references.
        wanted: tells whether the pair with a given number, from 0 through all parts, is wanted.

    Raises:
        UserError: a file cannot be read, or the files of a part differ in length.
    """
    index = -1
    for part in parts:
        names = tuple(str(path) for path in part)
        first = index + 1
        columns = map(raw_lines, part)
        for index, lines in enumerate(itertools.zip_longest(*columns), start=first):
            if None in lines:
                raise _length_mismatch(part)
            if wanted(index):
                yield index, Pair(tuple(map(decoded, lines)), names, index - first + 1)


def pairs_of(part: Sequence[pathlib.Path]) -> Iterator[Pair]:
    """Yield the lines of parallel files, or the segments of SGML sets.

    Raises:
        UserError: a file is missing or damaged, or the files differ in length.
    """
    if _is_sgml(part):
        return iter(_mteval(part))
    return (pair for _, pair in some_of_parts([part], lambda index: True))


def _is_sgml(part: Sequence[pathlib.Path]) -> bool:
    """Return whether a part consists of SGML sets.

    Raises:
        UserError: only some of its files are SGML sets, or one is compressed.
    """
    for path in part:
        if path.name.endswith((".sgm.gz", ".sgml.gz")):
            raise UserError(f"{path}: SGML must not be compressed; unpack it with gunzip")
    sets = [path for path in part if path.suffix in (".sgm", ".sgml")]
    if sets and len(sets) < len(part):
        others = ", ".join(str(path) for path in part if path not in sets)
        raise UserError(f"{sets[0]} is SGML, but {others} is not: give text or SGML for all")
    return bool(sets)


def _mteval(part: Sequence[pathlib.Path]) -> Iterator[Pair]:
    source, *references = part
    columns = [read_mteval(source, path) for path in references]
    for number, rows in enumerate(zip(*columns, strict=True), start=1):
        texts, names = [rows[0][0]], [str(source)]
        for path, (_, *translations) in zip(references, rows, strict=True):
            texts += translations
            names += [str(path)] * len(translations)
        yield Pair(tuple(texts), tuple(names), number)


def _length_mismatch(part: Sequence[pathlib.Path]) -> UserError:
    if not all(path.is_file() for path in part):  # Pipes can be read only once.
        return UserError(f"{' and '.join(map(str, part))} have different numbers of lines")
    counts = [sum(1 for _ in read_lines(path)) for path in part]
    other = next(i for i, count in enumerate(counts) if count != counts[0])
    line = first_shifted_line(part[0], part[other])
    return UserError(
        f"{part[0]} has {counted(counts[0], 'line')} but {part[other]} has {counts[other]}; "
        f"judging by line lengths, they are misaligned from line {line} on: look there for a line "
        "that is missing or split in two"
    )
