"""Finds what is missing or damaged in generated data."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.records import count_records
from t2t_phrase.data.generation.staged import has_checksum
from t2t_phrase.io.files import sha256_of
from t2t_phrase.io.lines import read_lines
from t2t_phrase.text.encoders import load_encoder


def damaged_files(folder: pathlib.Path, manifest: Manifest) -> Iterator[str]:
    """Yield a message for each finished file that is missing or changed; all files are read."""
    for name, sha256, size in manifest.files():
        path = folder / name
        if not path.is_file():
            yield f"{path} is missing"
            continue
        try:
            found = path.stat().st_size
            if size not in (None, found):
                yield f"{path} has {found:,} bytes instead of {size:,}"
            elif sha256_of(path) != sha256:
                yield f"{path} has changed since it was written (its checksum differs)"
        except OSError as error:
            yield f"cannot read {path}: {error.strerror or error}"


def miscounted_splits(manifest: Manifest) -> Iterator[str]:
    """Yield the names of splits whose shards do not hold one record for each pair."""
    for name, split in manifest.splits.items():
        if sum(shard["records"] for shard in filter(None, split["shards"])) != split["pairs"]:
            yield name


def shard_damage(folder: pathlib.Path, shard: Mapping[str, Any]) -> str:
    """Return a description of a shard's damage, judged by its size; "" if there is none.

    Args:
        folder: the data folder.
        shard: the shard's entry in the manifest.
    """
    path = folder / shard["file"]
    if not path.is_file():
        return f"{path} is missing"
    try:
        found = path.stat().st_size
    except OSError as error:
        return f"cannot read {path}: {error.strerror or error}"
    expected = shard["bytes"]
    return "" if found == expected else f"{path} has {found:,} bytes instead of {expected:,}"


def verify(folder: pathlib.Path, base_name: str) -> Iterator[str]:
    """Yield a message for each fault in the data of a problem; nothing is written.

    Checksums of all files are compared, and records, lines and vocabulary entries are counted.

    Args:
        folder: the data folder.
        base_name: base name of the problem.

    Raises:
        UserError: the manifest cannot be read.
    """
    path = manifest_path(folder, base_name)
    manifest = Manifest.load(path)
    if manifest is None:
        yield f"{path} is missing"
        return
    if not manifest.complete:
        yield f"{path}: the data are not finished"
    yield from damaged_files(folder, manifest)
    for name in miscounted_splits(manifest):
        if manifest.complete:
            pairs = manifest.splits[name]["pairs"]
            yield f"{path}: the {name} shards do not hold {pairs:,} records in total"
    yield from _miscounted_files(folder, manifest)


def _miscounted_files(folder: pathlib.Path, manifest: Manifest) -> Iterator[str]:
    for split in manifest.splits.values():
        for shard in filter(None, split["shards"]):
            path = folder / shard["file"]
            if has_checksum(path, shard["sha256"]) and count_records(path) != shard["records"]:
                yield f"{path} does not hold {shard['records']:,} records"
        for name, sha256 in (*split["text"].items(), *split["side"].items()):
            path = folder / name
            if has_checksum(path, sha256) and sum(1 for _ in read_lines(path)) != split["pairs"]:
                yield f"{path} does not have {split['pairs']:,} lines"
    for entry in manifest.vocabulary:
        path = folder / entry["file"]
        if has_checksum(path, entry["sha256"]) and load_encoder(path).vocab_size != entry["size"]:
            yield f"{path} does not have {entry['size']:,} entries"
