"""A shard: sentence pairs as a few arrays in one file, which is mapped into memory.

The file begins with `MAGIC`, the length of a description (8 bytes, little-endian) and its checksum
(4 bytes). The description is JSON: the number of records, and for each array its name, type,
length, place, checksum, and the side that it describes. Arrays lie at multiples of 8 bytes. They
are "source.splits" and "target.splits", int64, with the start of each sentence, and for "inputs",
"targets" and each feature, an array of all its integers: uint16 if they fit, else int32.
"""

from __future__ import annotations

import json
import mmap
import os
import pathlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.shards.ragged import Ragged
from t2t_phrase.features import IDS, Side

MAGIC = b"t2t_phrase pairs 1\n"
_LENGTHS = struct.Struct("<QI")
_ALIGN = 8
_BLOCK = 2**20


class Shard(NamedTuple):
    """Sentence pairs of one file."""

    splits: dict[Side, np.ndarray]
    """(records + 1,) int64: where the tokens of each sentence begin."""
    values: dict[str, np.ndarray]
    """(tokens,) integers: "inputs", "targets" and features, by name."""
    side_of: dict[str, Side]
    """The side that each of `values` describes."""

    @property
    def records(self) -> int:
        """The number of sentence pairs."""
        return len(self.splits["source"]) - 1

    def ragged(self, name: str) -> Ragged:
        """Return the rows of "inputs", "targets" or a feature."""
        return Ragged(self.values[name], self.splits[self.side_of[name]])

    def take(self, rows: np.ndarray) -> Shard:
        """Return these pairs in this order."""
        taken = {name: self.ragged(name).take(rows) for name in self.values}
        splits = {side: taken[name].splits for side, name in IDS.items()}
        return Shard(splits, {name: found.values for name, found in taken.items()}, self.side_of)


def write_arrays(path: str | os.PathLike[str], shard: Shard) -> None:
    """Write a shard; arrays that are mapped into memory are read and written in pieces.

    Raises:
        OSError: the disk is full, or the file cannot be written.
    """
    arrays = {f"{side}.splits": (splits, "<i8") for side, splits in shard.splits.items()}
    arrays |= {name: (values, _smallest_type(values)) for name, values in shard.values.items()}
    entries, place = [], 0
    for name, (array, kind) in arrays.items():
        crc32 = 0
        for piece in _pieces(array):
            crc32 = zlib.crc32(np.ascontiguousarray(piece, kind).data, crc32)
        entries.append(
            {
                "name": name,
                "type": kind,
                "length": len(array),
                "side": shard.side_of.get(name, ""),
                "place": place,
                "crc32": crc32,
            }
        )
        size = len(array) * np.dtype(kind).itemsize
        place += size + -size % _ALIGN
    description = json.dumps({"records": shard.records, "arrays": entries}).encode()
    with open(path, "wb") as file:
        file.write(MAGIC + _LENGTHS.pack(len(description), zlib.crc32(description)) + description)
        file.write(bytes(-file.tell() % _ALIGN))
        for array, kind in arrays.values():
            for piece in _pieces(array):
                file.write(np.ascontiguousarray(piece, kind).data)
            file.write(bytes(-file.tell() % _ALIGN))


def read_records(path: pathlib.Path) -> int:
    """Return the number of records of a shard without reading its arrays.

    Raises:
        UserError: the shard is damaged.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        return int(_description(path, file)[0]["records"])


def open_shard(path: str | os.PathLike[str]) -> Shard:
    """Check all checksums of a shard, which reads the file once, and map its arrays into memory.

    Raises:
        UserError: the shard is damaged.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        description, start = _description(path, file)
        for entry in description["arrays"]:
            file.seek(start + entry["place"])
            if _checksum(file, _bytes(entry)) != entry["crc32"]:
                raise UserError(f"{path} is damaged: the checksum of {entry['name']!r} differs")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {
        entry["name"]: np.frombuffer(
            mapped, entry["type"], count=entry["length"], offset=start + entry["place"]
        )
        for entry in description["arrays"]
    }
    splits = {side: arrays.pop(f"{side}.splits") for side in IDS}
    sides = {entry["name"]: entry["side"] for entry in description["arrays"] if entry["side"]}
    return Shard(splits, arrays, sides)


def _description(path: str | os.PathLike[str], file: BinaryIO) -> tuple[Mapping[str, Any], int]:
    """Return the description, and where the arrays begin."""
    size = os.fstat(file.fileno()).st_size
    fixed = file.read(len(MAGIC) + _LENGTHS.size)
    if len(fixed) < len(MAGIC) + _LENGTHS.size:
        raise UserError(f"{path} is damaged: it ends early")
    if not fixed.startswith(MAGIC):
        raise UserError(f"{path} is damaged: it does not begin like a shard")
    length, crc32 = _LENGTHS.unpack(fixed[len(MAGIC) :])
    # A damaged length must not exhaust the memory.
    content = file.read(length) if length <= size else b""
    if len(content) != length or zlib.crc32(content) != crc32:
        raise UserError(f"{path} is damaged: the checksum of its description differs")
    start = file.tell() + -file.tell() % _ALIGN
    description = json.loads(content)
    end = max(entry["place"] + _bytes(entry) for entry in description["arrays"])
    if size != start + end + -end % _ALIGN:
        raise UserError(f"{path} is damaged: it has {size:,} bytes instead of {start + end:,}")
    return description, start


def _bytes(entry: Mapping[str, Any]) -> int:
    return int(entry["length"]) * np.dtype(entry["type"]).itemsize


def _checksum(file: BinaryIO, length: int) -> int:
    found = 0
    while length > 0 and (block := file.read(min(length, _BLOCK))):
        found = zlib.crc32(block, found)
        length -= len(block)
    return found


def _smallest_type(values: np.ndarray) -> str:
    fits = all(piece.min() >= 0 and piece.max() < 2**16 for piece in _pieces(values))
    return "<u2" if fits else "<i4"


def _pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(array), _BLOCK):
        yield array[start : start + _BLOCK]
