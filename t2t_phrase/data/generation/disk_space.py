"""Disk space that data generation needs, logged beforehand and compared with the free space."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.segmentations import sample_splits
from t2t_phrase.io.files import expanded

# Shards hold ids of two bytes and the offsets of sentences. Tokens of vocabularies up to these
# sizes, and of larger ones, have at least this many bytes of text each, those of the smallest about
# one; offsets take this many bytes for each byte of text.
_BYTES_OF_TOKEN = {1000: 1.4, 4000: 2.4, 16_000: 3.2}
_LARGE_VOCABULARY = 3.6
_OFFSETS = 0.06
# Estimates may be wrong by this fraction; only less free space than the remainder is refused.
_MARGIN = 0.15


@dataclasses.dataclass(frozen=True)
class Need:
    """Space that is needed in a folder.

    Attributes:
        folder: the folder, which need not exist yet.
        bytes: bytes needed on its disk, beyond those used now.
        what: purpose of the space.
    """

    folder: pathlib.Path
    bytes: int
    what: str


@dataclasses.dataclass(frozen=True)
class DataSpace:
    """Approximate size of generated data, in bytes.

    Attributes:
        text: size of the text that shards are made from, which is deleted in the end.
        shards: size of all shards.
        spooled: size of the temporary files of shards that are being written.
    """

    text: int
    shards: int
    spooled: int

    @property
    def most(self) -> int:
        """The most space taken at any time."""
        return self.text + self.shards + self.spooled

    @property
    def purpose(self) -> str:
        """The purpose of that space, see `Need`."""
        return f"the data while they are made, {_size(self.shards)} in the end"


def data_space(
    text_bytes: int, options: Mapping[str, Any], *, workers: int, share: float = 1.0
) -> DataSpace:
    """Return the space that data take.

    Args:
        text_bytes: size of the training set's text.
        options: options of the data, as in a manifest.
        workers: number of processes that write shards.
        share: share of the training shards that are made.
    """
    sizes = [options[name] for name in ("vocab_size", "target_vocab_size") if options[name]]
    # "auto" stands for a size that grows with the corpus.
    size = min([32_000 if size == "auto" else size for size in sizes])
    of_token = next((n for most, n in _BYTES_OF_TOKEN.items() if size <= most), _LARGE_VOCABULARY)
    if options["vocab_type"] == "words":
        of_token = _LARGE_VOCABULARY
    of_id = 2 if max([0 if size == "auto" else size for size in sizes]) <= 2**16 else 4
    copies = 1 + len(sample_splits(options))
    text = round(text_bytes * share)
    shards = round(text * copies * (of_id / of_token + _OFFSETS))
    number = max(1, round(options["num_shards"] * copies * share))
    return DataSpace(text, shards, round(2 * shards * min(workers, number) / number))


def used_bytes(paths: Iterable[pathlib.Path]) -> int:
    """Return the total size of files in bytes; files that have vanished count as empty."""
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def require_space(needs: Sequence[Need], *, title: str, log: Log) -> None:
    """Log the needed and the free space, and refuse if clearly too little is free.

    Args:
        needs: the needs of each folder; those on the same disk add up.
        title: beginning of the lines.
        log: takes a line for each need.

    Raises:
        UserError: a disk has too little free space.
    """
    disks: dict[int, list[Need]] = {}
    for need in needs:
        if need.bytes <= 0:
            continue
        free = shutil.disk_usage(_existing(need.folder)).free
        log(
            f"{title}: needs about {_size(need.bytes)} in {need.folder} for {need.what}; "
            f"{_size(free)} are free"
        )
        disks.setdefault(os.stat(_existing(need.folder)).st_dev, []).append(need)
    for own in disks.values():
        free = shutil.disk_usage(_existing(own[0].folder)).free
        needed = sum(need.bytes for need in own)
        if free < (1 - _MARGIN) * needed:
            folders = " and ".join(dict.fromkeys(str(need.folder) for need in own))
            flags = "another --data_dir or --tmp_dir" if len(own) > 1 else "another folder"
            raise UserError(
                f"{title}: about {_size(needed)} are needed in {folders}, but only {_size(free)} "
                f"are free; make room, or use {flags}"
            )


def _existing(folder: pathlib.Path) -> pathlib.Path:
    """Return the folder, or the nearest one above it that exists."""
    folder = expanded(folder).absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.1f} MB"
