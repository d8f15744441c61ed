"""The raw files that a corpus is made from, by name, and how they are put together."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.io.files import sha256_of

# For each split, the names of the files of its parts, in order.
Parts = Mapping[str, list[list[str]]]


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The raw data of a corpus, as far as they are known.

    Attributes:
        checksums: SHA-256 of the raw files by name; empty if none of them is at hand.
        parts: the names of the text files, see `Parts`; empty if unknown.
        side: for each side stream, the names of its files.
    """

    checksums: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parts: Parts = dataclasses.field(default_factory=dict)
    side: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class RawSpace:
    """Approximate disk space that raw files still need, in bytes.

    Attributes:
        download: size of the downloads.
        unpacked: size of the unpacked files.
        text: size of their text, uncompressed.
    """

    download: int = 0
    unpacked: int = 0
    text: int = 0


def named(paths: Iterable[pathlib.Path]) -> list[tuple[str, pathlib.Path]]:
    """Return each path with a unique name: the file's, or `FILE#2` for a second such file.

    Raises:
        UserError: a name is not UTF-8.
    """
    taken: dict[str, pathlib.Path] = {}
    for path in paths:
        try:
            path.name.encode()
        except UnicodeEncodeError:
            shown = str(path).encode(errors="backslashreplace").decode()
            raise UserError(f"{shown}: the name is not UTF-8; rename the file") from None
        name, count = path.name, 1
        while name in taken:
            count += 1
            name = f"{path.name}#{count}"
        taken[name] = path
    return list(taken.items())


def checksum(path: pathlib.Path) -> str:
    """Return the SHA-256 checksum of a raw file.

    Raises:
        UserError: the file cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error


def changes(old: Inputs, new: Inputs, *, welcome: Collection[str] = ()) -> list[str]:
    """Return the differences, as "added: a, b", "changed: c" and "gone: d".

    Files count as unchanged if none is at hand, and parts if they are unknown.

    Args:
        old: the recorded inputs.
        new: the current inputs.
        welcome: names that may be added.
    """
    if not (old.parts and new.parts):
        return list(_differing_files(old.checksums, new.checksums, welcome))
    found = list(_differing_files(_once(old.checksums), _once(new.checksums), welcome))
    again = _named_again(old.checksums) | _named_again(new.checksums)
    return found or list(_differing_parts(old.parts, new.parts, again))


def _once(checksums: Mapping[str, str]) -> dict[str, str]:
    again = _named_again(checksums)
    return {name: digest for name, digest in checksums.items() if name not in again}


def _named_again(checksums: Mapping[str, str]) -> dict[str, str]:
    """Return the names, such as `FILE#2`, of files that parts with a weight repeat, with FILE."""
    files = {name: name.rpartition("#")[0] for name in checksums}
    return {name: file for name, file in files.items() if checksums.get(file) == checksums[name]}


def _differing_files(
    old: Mapping[str, str], new: Mapping[str, str], welcome: Collection[str]
) -> Iterator[str]:
    if not new:
        return
    groups = {
        "added": [name for name in new if name not in old and name not in welcome],
        "changed": [name for name in new if old.get(name, new[name]) != new[name]],
        "gone": [name for name in old if name not in new],
    }
    for kind, names in groups.items():
        if names:
            yield f"{kind}: {', '.join(names)}"


def _differing_parts(old: Parts, new: Parts, again: Mapping[str, str]) -> Iterator[str]:
    for split in dict.fromkeys((*old, *new)):
        before, now = (
            [[again.get(name, name) for name in part] for part in parts.get(split, [])]
            for parts in (old, new)
        )
        if before != now:
            yield f"files of the {split} set: {_spelled(before)} -> {_spelled(now)}"


def _spelled(parts: list[list[str]]) -> str:
    counts = [("+".join(names), len([*same])) for names, same in itertools.groupby(parts)]
    return ", ".join(f"{count} x {part}" if count > 1 else part for part, count in counts) or "none"


def subset_inputs(subsets: Mapping[str, Sequence[str]]) -> Inputs:
    """Return the names of the subsets of each split as inputs of a corpus."""
    return Inputs({split: "+".join(names) for split, names in subsets.items()})
