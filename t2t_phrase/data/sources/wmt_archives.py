"""Archives of WMT corpora: listing, downloading, and unpacking the files that are read."""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
import logging
import pathlib
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from tensorflow_datasets.core.download.checksums import get_all_url_infos
from tensorflow_datasets.core.download.extractor import iter_archive
from tensorflow_datasets.core.download.resource import guess_extract_method
from tensorflow_datasets.translate import wmt

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.download import fetch
from t2t_phrase.data.sources.inputs import checksum
from t2t_phrase.io import locks
from t2t_phrase.io.files import atomic, write

# The errors that reading a damaged archive raises.
_DAMAGE = (EOFError, ValueError, tarfile.TarError, zlib.error)
# Approximate bytes of text per compressed byte, and the factor by which the part of one language in
# an archive of several may exceed the mean.
_RATIO, _LARGER = 3.3, 1.5
# Bytes of a file that are copied at a time.
_BLOCK = 2**20


@dataclasses.dataclass(frozen=True)
class Archive:
    """An archive in tensorflow-datasets' list, and the files in it that are read.

    Attributes:
        url: its address.
        name: its file name.
        sha256: its checksum.
        size: its size in bytes.
        members: names or patterns of its files that are read; "": the archive itself, unpacked.
        share: approximate share of its members in its content.
        unique: whether no other archive in the list has this name.
    """

    url: str
    name: str
    sha256: str
    size: int
    members: tuple[str, ...]
    share: float
    unique: bool

    def folder(self, raw: pathlib.Path) -> pathlib.Path:
        """Return the folder of its members, within the folder of raw files."""
        return raw / "unpacked" / f"{self.name}-{self.sha256[:12]}"

    @property
    def unpacked_bytes(self) -> int:
        """Approximate size in bytes of its members, which may be compressed themselves."""
        return round(self.size * self.share * (1 if self.name.endswith(".tar") else _RATIO))

    @property
    def text_bytes(self) -> int:
        """Approximate size in bytes of the text of its members."""
        return round(self.size * self.share * _RATIO)


def url_infos() -> Mapping[str, Any]:
    """Return size, checksum and name of every archive that tensorflow-datasets knows, by URL."""
    return get_all_url_infos()


def archives(subsets: Iterable[str], foreign: str) -> list[Archive]:
    """Return the archives that subsets are read from, each once.

    Args:
        subsets: names in tensorflow-datasets.
        foreign: the language other than English.
    """
    known = url_infos()
    sums: dict[str, set[str]] = {}
    for info in known.values():
        sums.setdefault(info.filename, set()).add(info.checksum)
    members: dict[str, list[str]] = {}
    languages: dict[str, int] = {}
    for subset in subsets:
        data = wmt.DATASET_MAP[subset]
        urls, paths = data.get_url(foreign), data.get_path(foreign)
        for url, own in zip(urls, [paths] if len(urls) == 1 else [[p] for p in paths], strict=True):
            members.setdefault(url, []).extend(own)
            apart = {tuple(data.get_url(source)) for source in data.sources}
            languages[url] = 1 if len(apart) > 1 else len(data.sources)
    return [
        Archive(
            url,
            known[url].filename,
            known[url].checksum,
            int(known[url].size),
            tuple(dict.fromkeys(members[url])),
            min(1.0, _LARGER / languages[url]),
            len(sums[known[url].filename]) == 1,
        )
        for url in members
    ]


def places(subset: str, foreign: str, raw: pathlib.Path, known: Sequence[Archive]) -> list[str]:
    """Return the paths of a subset's unpacked archives, as tensorflow-datasets takes them.

    Args:
        subset: name of the subset.
        foreign: the language other than English.
        raw: the folder of raw files.
        known: the archives.
    """
    data = wmt.DATASET_MAP[subset]
    by_url = {archive.url: archive for archive in known}
    paths = data.get_path(foreign)
    found = []
    for number, url in enumerate(data.get_url(foreign)):
        archive = by_url[url]
        folder = archive.folder(raw)
        found.append(str(folder if paths[number] else folder / _whole_name(archive)))
    return found


def is_unpacked(archive: Archive, raw: pathlib.Path) -> bool:
    """Return whether all members of an archive lie in the folder of raw files."""
    return _marker(archive, raw).is_file()


def at_hand(archive: Archive, raw: pathlib.Path) -> pathlib.Path:
    """Return the path at which an archive lies, or to which it is downloaded."""
    path = raw / archive.name
    if archive.unique or (path.is_file() and checksum(path) == archive.sha256):
        return path
    # Another archive may have this name.
    return raw / archive.sha256[:12] / archive.name


def unpack(archive: Archive, raw: pathlib.Path) -> None:
    """Download an archive if it is missing, and unpack its members if they are missing.

    Members are copied one after the other and in pieces, which bounds the memory used. Those
    unpacked before an interruption are kept.

    Args:
        archive: what to unpack.
        raw: the folder of raw files.

    Raises:
        UserError: the archive cannot be downloaded, is damaged or lacks a member, or the disk is
            full.
    """
    if is_unpacked(archive, raw):
        return
    folder = archive.folder(raw)
    folder.mkdir(parents=True, exist_ok=True)
    # Other tasks or problems may need it at the same time.
    with locks.exclusive(folder / ".lock", wait=True):
        if not is_unpacked(archive, raw):
            _unpack(archive, raw)


def _unpack(archive: Archive, raw: pathlib.Path) -> None:
    path = at_hand(archive, raw)
    fetch(archive.url, path.parent, sha256=archive.sha256, name=archive.name)
    left, folder = set(archive.members), archive.folder(raw)
    try:
        for name, content in iter_archive(path, guess_extract_method(archive.name)):
            found = [pattern for pattern in archive.members if fnmatch.fnmatchcase(name, pattern)]
            if found:
                _copy(content, folder / (name or _whole_name(archive)))
                left.difference_update(found)
            if not left and not any("*" in pattern for pattern in archive.members):
                break
    except _DAMAGE as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be unpacked ({error}); delete it") from error
    if left:
        raise UserError(f"{path} has no {sorted(left)[0]}")
    write(_marker(archive, raw), "")


def text_files(subset: str, found: Sequence[str], foreign: str) -> tuple[pathlib.Path, ...]:
    """Return the two files of a subset of parallel text; none if it has another format.

    Args:
        subset: name of the subset.
        found: the `places` of the subset.
        foreign: the language other than English.
    """
    names = wmt.DATASET_MAP[subset].get_path(foreign)
    if len(names) != 2 or any(name.endswith(".sgm") or "*" in name for name in names):
        return ()
    folders = list(found) * (3 - len(found))
    return tuple(
        pathlib.Path(folder, name) if name else pathlib.Path(folder)
        for folder, name in zip(folders, names, strict=True)
    )


def read_subset(
    subset: str, found: Sequence[str], foreign: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number and texts by language of a subset's pairs, via tensorflow-datasets.

    Args:
        subset: name of the subset.
        found: the `places` of the subset.
        foreign: the language other than English.
    """
    config = wmt.WmtConfig(
        name=subset,
        version="1.0.0",
        description=subset,
        language_pair=(foreign, "en"),
        subsets={"train": [subset]},
    )
    logger = logging.getLogger("absl")
    level = logger.level
    # tensorflow-datasets warns of every configuration that is not its own.
    logger.setLevel(logging.ERROR)
    try:
        builder = wmt.WmtTranslate(config=config, data_dir=pathlib.Path(found[0]).parent)
    finally:
        logger.setLevel(level)
    for key, example in builder._generate_examples([subset], {subset: list(found)}):
        # The keys end in the number of the line, from 0.
        yield int(key.rsplit("/", 1)[1]) + 1, example


def _whole_name(archive: Archive) -> str:
    return archive.name.removesuffix(".gz")


def _marker(archive: Archive, raw: pathlib.Path) -> pathlib.Path:
    members = hashlib.sha256("\n".join(archive.members).encode()).hexdigest()
    return archive.folder(raw) / f".complete-{members[:12]}"


def _copy(content: IO[bytes], target: pathlib.Path) -> None:
    # A file is complete or absent; another problem may have unpacked it from a shared archive.
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as temporary, open(temporary, "wb") as file:
        shutil.copyfileobj(content, file, _BLOCK)
