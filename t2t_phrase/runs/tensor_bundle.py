"""TensorFlow's format of checkpoints, read and written without TensorFlow.

The index (`sorted_table`) has the type, shape, place and checksum of each tensor; the other file
has the bytes of all tensors in succession.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from t2t_phrase.runs.crc32c import crc32c, masked
from t2t_phrase.runs.protobuf import field, fields, fixed, read_varint, varint
from t2t_phrase.runs.sorted_table import entries_of, table_of

# TensorFlow's numbers for all types that models and optimizers may have.
_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_NAMES = {number: name for name, number in _TYPES.items()}
_STRING, _BFLOAT16 = 7, 14


class _Entry(NamedTuple):
    kind: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int


def write_bundle(path: str, tensors: Mapping[str, np.ndarray | bytes]) -> None:
    """Write PATH.data-00000-of-00001 and PATH.index.

    Args:
        path: the path without these endings.
        tensors: the tensors by key; bytes are a scalar string.

    Raises:
        OSError: the files cannot be written.
    """
    # One shard, little-endian, of the first version of the format.
    entries = {b"": field(1, 1) + field(3, field(1, 1))}
    offset = 0
    with open(f"{path}.data-00000-of-00001", "wb") as file:
        for key in sorted(tensors, key=str.encode):
            value = tensors[key]
            shape: tuple[int, ...] = np.shape(value)
            data: bytes | np.ndarray
            if isinstance(value, bytes):
                kind = _STRING
                data, checksum = _string(value)
            else:
                kind = _TYPES[value.dtype.name]
                data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
                checksum = crc32c(data)
            file.write(data)  # type: ignore[arg-type]
            sizes = b"".join(field(2, field(1, size)) for size in shape)
            entry = field(1, kind) + field(2, sizes) + field(4, offset) + field(5, len(data))
            entries[key.encode()] = entry + fixed(6, masked(checksum))
            offset += len(data)
    with open(f"{path}.index", "wb") as file:
        file.write(table_of(entries))


class BundleReader:
    """Reads tensors, each checked against its checksum.

    Args:
        path: the path without the endings `.index` and `.data-*`.

    Raises:
        OSError: the index cannot be read.
        ValueError: the index is damaged; this may also raise an IndexError.
    """

    def __init__(self, path: str) -> None:
        with open(f"{path}.index", "rb") as file:
            entries = entries_of(file.read())
        header = dict(fields(entries.pop(b"")))
        self._path, self._shards = path, int(header.get(1, 0))
        self._entries = {key.decode(): _entry(value) for key, value in entries.items()}

    def get_variable_to_shape_map(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all tensors by key."""
        return {key: entry.shape for key, entry in self._entries.items()}

    def get_tensor(self, key: str) -> Any:
        """Return an array, or the bytes of a scalar string.

        Raises:
            ValueError: the tensor is damaged, or of a type that no model has.
        """
        entry = self._entries[key]
        shard = f"{self._path}.data-{entry.shard:05d}-of-{self._shards:05d}"
        data = np.empty(entry.size, np.uint8)
        try:
            with open(shard, "rb") as file:
                file.seek(entry.offset)
                if file.readinto(data) < entry.size:  # type: ignore[arg-type]
                    raise ValueError(f"{key}: the file is too short")
        except OSError as error:
            raise ValueError(f"{key}: {os.strerror(error.errno or 0)}") from error
        if entry.kind == _STRING:
            return _read_string(key, data.tobytes(), entry.checksum)
        if masked(crc32c(data)) != entry.checksum:
            raise ValueError(f"{key}: the checksum differs")
        if entry.kind == _BFLOAT16:
            # The upper half of a float32.
            wide = data.view("<u2").astype(np.uint32) << 16
            return wide.view(np.float32).reshape(entry.shape)
        if entry.kind not in _NAMES:
            raise ValueError(f"{key}: type {entry.kind} is unknown")
        return data.view(_NAMES[entry.kind]).reshape(entry.shape)


def _entry(message: bytes) -> _Entry:
    found: dict[int, Any] = dict(fields(message))
    shape = tuple(
        int(dict(fields(size)).get(1, 0))  # type: ignore[arg-type]
        for number, size in fields(found.get(2, b""))
        if number == 2
    )
    return _Entry(found.get(1, 0), shape, *(found.get(number, 0) for number in (3, 4, 5, 6)))


def _string(value: bytes) -> tuple[bytes, int]:
    """Return the data of a scalar string, and their checksum."""
    # Lengths below 2^32 count as four bytes in checksums.
    length = struct.pack("<I", len(value))
    of_length = struct.pack("<I", masked(crc32c(length)))
    data = varint(len(value)) + of_length + value
    return data, crc32c(length + of_length + value)


def _read_string(key: str, data: bytes, checksum: int) -> bytes:
    length, place = read_varint(data, 0)
    value = data[place + 4 :]
    again, own = _string(value)
    if length != len(value) or again != data or masked(own) != checksum:
        raise ValueError(f"{key}: the checksum differs")
    return value
