"""Text of collections as files: Moses archives of OPUS, and datasets of the Hugging Face hub.

A file list names one side of a collection as if it were a file:

```
de-en.txt.zip:en             the file that ends in .en in an archive of OPUS in Moses format
hf:opus_books/en-fr/train:en one language of a split of a dataset with translations
```

Each side is written once, to a text file in a hidden folder next to the list.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import zipfile
from collections.abc import Callable, Iterable
from typing import IO, Any

from t2t_phrase.config import UserError, nearest
from t2t_phrase.io.files import expanded, explain_os_error

FOLDER = ".extracted"
_HUB = "hf:"


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
    archive, colon, language = name.rpartition(":")
    if colon and archive.endswith(".zip"):
        return _of_archive(folder / expanded(archive), language, folder)
    return folder / expanded(name)


def _of_archive(archive: pathlib.Path, language: str, folder: pathlib.Path) -> pathlib.Path:
    try:
        with zipfile.ZipFile(archive) as opened:
            names = opened.namelist()
            found = [name for name in names if name.endswith(f".{language}")]
            if len(found) != 1:
                endings = [name.rpartition(".")[2] for name in names]
                raise UserError(
                    f"{archive} has {len(found) or 'no'} files that end in .{language}"
                    f"{nearest(language, endings)}; it has {', '.join(names)}"
                )
            # With the checksum in the name, another archive gives another file.
            info = opened.getinfo(found[0])
            target = folder / FOLDER / f"{archive.stem}-{info.CRC:08x}.{language}"
            return _once(target, lambda file: shutil.copyfileobj(opened.open(info), file))
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"cannot read {archive}: {error}") from error


def _of_hub(name: str, folder: pathlib.Path) -> pathlib.Path:
    path, _, language = name.removeprefix(_HUB).rpartition(":")
    parts = path.split("/")
    if len(parts) < 3 or not all((*parts, language)):
        raise UserError(f"{name}: expected hf:DATASET/CONFIG/SPLIT:LANGUAGE")
    *dataset, config, split = parts
    target = folder / FOLDER / f"{path.replace('/', '-')}.{language}"

    def write(file: IO[bytes]) -> None:
        try:
            datasets = importlib.import_module("datasets")
        except ImportError as error:
            raise UserError(
                f"{name} needs the package datasets: pip install 't2t_phrase[datasets]'"
            ) from error
        rows: Iterable[dict[str, Any]] = datasets.load_dataset(
            "/".join(dataset), config, split=split
        )
        for row in rows:
            texts = row.get("translation", row)
            if language not in texts:
                raise UserError(
                    f"{name}: the dataset has no {language!r}{nearest(language, texts)}; "
                    f"it has {', '.join(texts)}"
                )
            # A line feed would shift all following lines.
            file.write(" ".join(str(texts[language]).split()).encode() + b"\n")

    return _once(target, write)


def _once(target: pathlib.Path, write: Callable[[IO[bytes]], object]) -> pathlib.Path:
    """Return a file, writing it if it does not exist; it is always complete or absent."""
    if target.is_file():
        return target
    temporary = target.with_name(f"{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            write(file)
        os.replace(temporary, target)
    except OSError as error:
        raise explain_os_error(error, target) from error
    finally:
        temporary.unlink(missing_ok=True)
    return target
