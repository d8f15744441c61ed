"""The record of a staged split: work files are finished if, and only if, it describes them.

It is written once all work files are on disk. Work files that have no record, different content or
another origin are left over from a run that was killed, and are written again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Collection, Iterator, Mapping

from t2t_phrase.data.generation.shapes import Object, parse, require
from t2t_phrase.io.files import sha256_of, write
from t2t_phrase.io.json_digest import json_digest

_CHECKSUMS = Object(others=str)
_SHAPE = Object(
    {
        "made_from": str,
        "pairs": int,
        "faults": Object(others=int),
        "labels": Object(others=Object(others=int)),
        "content": str,
        "work": _CHECKSUMS,
        "text": _CHECKSUMS,
        "side": _CHECKSUMS,
    }
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class StagedSplit:
    """A record of a split's work files, written once all its pairs are read.

    Attributes:
        made_from: `json_digest` of everything that determines the content of the files.
        pairs: number of sentence pairs.
        faults: number of faults by kind.
        labels: how often each label occurs in training pairs, by feature.
        content: `json_digest` of the source and target files.
        work: SHA-256 of the files that shards are made from, by name.
        text, side: SHA-256 of the kept text and of the kept streams, by name. These files are moved
            from the work folder to the data folder.
    """

    made_from: str
    pairs: int
    faults: dict[str, int]
    labels: dict[str, dict[str, int]]
    content: str
    work: dict[str, str]
    text: dict[str, str]
    side: dict[str, str]

    def save(self, work: pathlib.Path, split: str) -> None:
        """Write the record, whose files must be on disk, to the work folder.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        write(_path(work, split), json.dumps(dataclasses.asdict(self), indent=2) + "\n")

    @classmethod
    def load(cls, work: pathlib.Path, split: str) -> StagedSplit | None:
        """Return the record of a split; None if there is none."""
        try:
            content = parse(_path(work, split).read_bytes())
            require(content, _SHAPE)
            return cls(**content)
        except (OSError, ValueError):
            return None

    def intact(
        self, work: pathlib.Path, folder: pathlib.Path, names: Collection[str] | None
    ) -> bool:
        """Return whether all files are unchanged.

        Args:
            work: the work folder.
            folder: the data folder, to which kept files may have been moved.
            names: names of the work files that matter; None: all.
        """
        own = self.work if names is None else names
        return all(
            name in self.work and has_checksum(work / name, self.work[name]) for name in own
        ) and all(
            has_checksum(work / name, sha) or has_checksum(folder / name, sha)
            for name, sha in self.kept()
        )

    def kept(self) -> Iterator[tuple[str, str]]:
        """Yield names and checksums of the files that are moved to the data folder."""
        yield from self.text.items()
        yield from self.side.items()


def forget(work: pathlib.Path, split: str) -> None:
    """Delete the record of a split, before its files are written again."""
    with contextlib.suppress(OSError):
        _path(work, split).unlink()


def content_digest(checksums: Mapping[str, str]) -> str:
    """Return a digest of files, given their checksums by name."""
    return json_digest(list(checksums.items()))


def has_checksum(path: pathlib.Path, sha256: str) -> bool:
    """Return whether a file exists, can be read and has the checksum."""
    try:
        return path.is_file() and sha256_of(path) == sha256
    except OSError:
        return False


def _path(work: pathlib.Path, split: str) -> pathlib.Path:
    return work / f"{split}.staged.json"
