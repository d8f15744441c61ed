"""Text of collections as files: Moses archives of OPUS, and datasets of the Hugging Face hub.

A file list names one side of a collection as if it were a file:

```
de-en.txt.zip:en             the file that ends in .en in an archive of OPUS in Moses format
hf:opus_books/en-fr/train:en one language of a split of a dataset with translations
```

Each side is written once, to a text file in a hidden folder next to the list.
"""

from __future__ import annotations

import glob
import hashlib
import importlib
import pathlib
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import IO, Any, NamedTuple

from t2t_phrase.config import UserError, nearest
from t2t_phrase.io import locks
from t2t_phrase.io.files import atomic, expanded, explain_os_error

FOLDER = ".extracted"
_HUB = "hf:"
# The errors that reading a damaged, encrypted or unusual archive raises.
_DAMAGE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


class AtHand(NamedTuple):
    """A text, as far as it is known without writing anything.

    Attributes:
        path: the path that `as_file` returns, where the file need not exist; None: unknown.
        sha256: checksum of a text that is in its archive but not yet a file; "": unknown.
    """

    path: pathlib.Path | None
    sha256: str = ""


def as_file(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Return the path of a text file, writing it first if the text is part of a collection.

    Args:
        name: the name, as in a file list.
        folder: folder of the list.

    Raises:
        UserError: the collection is missing or damaged, or does not have the language.
    """
    if name.startswith(_HUB):
        return _of_hub(name, folder)
    if packed := _in_archive(name, folder):
        return _of_archive(*packed, folder)
    return folder / expanded(name)


def at_hand(name: str, folder: pathlib.Path) -> AtHand:
    """Find a text without writing anything.

    Args:
        name: the name, as in a file list.
        folder: folder of the list.

    Raises:
        UserError: the name is malformed, or the archive does not have the language.
    """
    if name.startswith(_HUB):
        return AtHand(_hub_file(name, folder))
    if not (packed := _in_archive(name, folder)):
        return AtHand(folder / expanded(name))
    archive, language = packed
    try:
        with zipfile.ZipFile(archive) as opened:
            info = _member(opened, archive, language)
            path = _archive_file(archive, info, language, folder)
            if path.is_file():
                return AtHand(path)
            digest = hashlib.sha256()
            with opened.open(info) as file:
                while block := file.read(2**20):
                    digest.update(block)
            return AtHand(path, digest.hexdigest())
    except _DAMAGE:
        return AtHand(_extracted(archive, language, folder))


def packed_bytes(name: str, folder: pathlib.Path) -> int:
    """Return the bytes of a text that is still to be unpacked from an archive; 0: there is none.

    Args:
        name: the name, as in a file list.
        folder: folder of the list.
    """
    if name.startswith(_HUB) or not (packed := _in_archive(name, folder)):
        return 0
    archive, language = packed
    try:
        with zipfile.ZipFile(archive) as opened:
            info = _member(opened, archive, language)
    except _DAMAGE:
        return 0  # The reader of the text explains it.
    return 0 if _archive_file(archive, info, language, folder).is_file() else info.file_size


def _in_archive(name: str, folder: pathlib.Path) -> tuple[pathlib.Path, str] | None:
    """Return the archive and the language that a name gives; None: it is that of a file."""
    archive, colon, language = name.rpartition(":")
    if colon and archive.endswith(".zip"):
        return folder / expanded(archive), language
    return None


def _member(opened: zipfile.ZipFile, archive: pathlib.Path, language: str) -> zipfile.ZipInfo:
    names = opened.namelist()
    found = [name for name in names if name.endswith(f".{language}")]
    if len(found) != 1:
        endings = [name.rpartition(".")[2] for name in names]
        raise UserError(
            f"{archive} has {len(found) or 'no'} files that end in .{language}"
            f"{nearest(language, endings)}; it has {', '.join(names)}"
        )
    return opened.getinfo(found[0])


def _archive_file(
    archive: pathlib.Path, info: zipfile.ZipInfo, language: str, folder: pathlib.Path
) -> pathlib.Path:
    # With the checksum in the name, another archive gives another file.
    return folder / FOLDER / f"{archive.stem}-{info.CRC:08x}.{language}"


def _extracted(archive: pathlib.Path, language: str, folder: pathlib.Path) -> pathlib.Path | None:
    """Return the text that was extracted from an archive earlier; None: there is none."""
    pattern = f"{glob.escape(archive.stem)}-????????.{glob.escape(language)}"
    found = list((folder / FOLDER).glob(pattern))
    # Several could be those of different archives.
    return found[0] if len(found) == 1 else None


def _of_archive(archive: pathlib.Path, language: str, folder: pathlib.Path) -> pathlib.Path:
    try:
        with zipfile.ZipFile(archive) as opened:
            info = _member(opened, archive, language)
            target = _archive_file(archive, info, language, folder)
            return _once(target, lambda file: shutil.copyfileobj(opened.open(info), file))
    except FileNotFoundError as error:
        if earlier := _extracted(archive, language, folder):
            return earlier
        raise UserError(f"cannot read {archive}: it does not exist") from error
    except _DAMAGE as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"cannot read {archive}: {str(error) or 'it is cut short'}") from error


def _hub_file(name: str, folder: pathlib.Path) -> pathlib.Path:
    path, _, language = name.removeprefix(_HUB).rpartition(":")
    parts = path.split("/")
    if len(parts) < 3 or not all((*parts, language)):
        raise UserError(f"{name}: expected hf:DATASET/CONFIG/SPLIT:LANGUAGE")
    return folder / FOLDER / f"{path.replace('/', '-')}.{language}"


def _of_hub(name: str, folder: pathlib.Path) -> pathlib.Path:
    target = _hub_file(name, folder)
    path, _, language = name.removeprefix(_HUB).rpartition(":")
    *dataset, config, split = path.split("/")

    def write(file: IO[bytes]) -> None:
        try:
            datasets = importlib.import_module("datasets")
        except ImportError as error:
            raise UserError(
                f"{name} needs the package datasets: pip install 't2t_phrase[datasets]'"
            ) from error
        try:
            rows: Iterable[dict[str, Any]] = datasets.load_dataset(
                "/".join(dataset), config, split=split
            )
        # Wrong names and a network that fails raise errors of many types.
        except Exception as error:
            reason = " ".join(str(error).split())[:300]
            raise UserError(f"{name}: the dataset cannot be loaded: {reason}") from error
        for row in rows:
            texts = _texts_of(row, language)
            if language not in texts:
                raise UserError(
                    f"{name}: the dataset has no {language!r}{nearest(language, texts)}; "
                    f"it has {', '.join(texts)}"
                )
            text = texts[language]
            # A line feed would shift all following lines; None counts as an empty side.
            file.write(("" if text is None else " ".join(str(text).split())).encode() + b"\n")

    return _once(target, write)


def _texts_of(row: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the texts of a row by language: those in `translation`, or the columns."""
    nested = row.get("translation", row)
    if nested is None and language not in row:
        return {language: None}
    return nested if isinstance(nested, dict) else row


def _once(target: pathlib.Path, write: Callable[[IO[bytes]], object]) -> pathlib.Path:
    """Return a file, writing it if it does not exist; it is always complete or absent."""
    if target.is_file():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Other tasks may need it at the same time.
        with locks.exclusive(target.with_name(f".{target.name}.lock"), wait=True):
            if not target.is_file():
                with atomic(target) as temporary, temporary.open("wb") as file:
                    write(file)
    except OSError as error:
        if isinstance(error, UserError):
            raise
        raise explain_os_error(error, target) from error
    return target
