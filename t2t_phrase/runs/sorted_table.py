"""Tables of sorted keys, as in LevelDB: the index of a checkpoint."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from t2t_phrase.runs.crc32c import crc32c, masked
from t2t_phrase.runs.protobuf import read_varint, varint

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER = 48
# A block is closed once it has this many bytes; every 16th key is whole, not a continuation.
_BLOCK, _WHOLE = 2**18, 16
_PLAIN = b"\0"  # Blocks are not compressed.


def table_of(entries: Mapping[bytes, bytes]) -> bytes:
    """Return the content of the file with these entries."""
    data, blocks, block = bytearray(), [], _Block()
    for key in sorted(entries):
        block.add(key, entries[key])
        if len(block.data) >= _BLOCK:
            blocks.append((key, _append(data, block.finished())))
            block = _Block()
    if block.data:
        blocks.append((key, _append(data, block.finished())))
    meta, index = _Block(), _Block()
    for key, handle in blocks:
        index.add(key, handle)
    handles = _append(data, meta.finished()) + _append(data, index.finished())
    return bytes(data) + handles.ljust(_FOOTER - len(_MAGIC), b"\0") + _MAGIC


def entries_of(data: bytes) -> dict[bytes, bytes]:
    """Return the entries of a file.

    Raises:
        ValueError: the data are not a table, or a checksum differs.
        IndexError: a block ends too early.
    """
    if len(data) < _FOOTER or data[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("not a table")
    footer = data[-_FOOTER:]
    meta, place = _handle(footer, 0)
    index, _ = _handle(footer, place)
    # This block has no entries, but any damage to a file must be found.
    _block(data, meta)
    entries: dict[bytes, bytes] = {}
    for handle in _entries(_block(data, index)).values():
        entries |= _entries(_block(data, _handle(handle, 0)[0]))
    return entries


class _Block:
    """A block that is being written."""

    def __init__(self) -> None:
        self.data, self._whole, self._last, self._count = bytearray(), [0], b"", 0

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count % _WHOLE:
            most = min(len(key), len(self._last))
            while shared < most and key[shared] == self._last[shared]:
                shared += 1
        elif self._count:
            self._whole.append(len(self.data))
        lengths = varint(shared) + varint(len(key) - shared) + varint(len(value))
        self.data += lengths + key[shared:] + value
        self._last, self._count = key, self._count + 1

    def finished(self) -> bytes:
        numbers = (*self._whole, len(self._whole))
        return bytes(self.data) + struct.pack(f"<{len(numbers)}I", *numbers)


def _append(data: bytearray, block: bytes) -> bytes:
    """Append a block; return its handle, which encodes its place and size."""
    handle = varint(len(data)) + varint(len(block))
    checked = block + _PLAIN
    data += checked + struct.pack("<I", masked(crc32c(checked)))
    return handle


def _handle(data: bytes, place: int) -> tuple[tuple[int, int], int]:
    offset, place = read_varint(data, place)
    size, place = read_varint(data, place)
    return (offset, size), place


def _block(data: bytes, handle: tuple[int, int]) -> bytes:
    offset, size = handle
    end = offset + size + len(_PLAIN)
    (expected,) = struct.unpack("<I", data[end : end + 4].ljust(4, b"\0"))
    if len(data) < end or masked(crc32c(data[offset:end])) != expected:
        raise ValueError("the checksum of a block differs")
    if data[end - 1 : end] != _PLAIN:
        raise ValueError("a block is compressed")
    return data[offset : end - 1]


def _entries(block: bytes) -> dict[bytes, bytes]:
    (restarts,) = struct.unpack("<I", block[-4:])
    end, place, key = len(block) - 4 * (restarts + 1), 0, b""
    entries = {}
    while place < end:
        shared, place = read_varint(block, place)
        own, place = read_varint(block, place)
        size, place = read_varint(block, place)
        key = key[:shared] + block[place : place + own]
        entries[key] = block[place + own : place + own + size]
        place += own + size
    return entries
