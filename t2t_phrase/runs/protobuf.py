"""The encoding of protocol buffers, as far as checkpoints and event files need it."""

from __future__ import annotations

import struct
from collections.abc import Iterator


def varint(number: int) -> bytes:
    """Return the bytes of a nonnegative number, seven bits per byte, the lowest first."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number and the place after it.

    Raises:
        IndexError: the data end within the number.
        ValueError: the number has more than 64 bits.
    """
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def field(number: int, value: int | bytes) -> bytes:
    """Return a field: an integer as a varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed(number: int, value: int | float) -> bytes:
    """Return a field of fixed width: an integer as 32 bits, a float as a double."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3 | 5) + struct.pack("<I", value)


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and value of each field; values of fixed width as integers.

    Raises:
        IndexError: the message ends within a field.
        ValueError: the data are not a message.
    """
    place = 0
    while place < len(message):
        tag, place = read_varint(message, place)
        kind = tag & 7
        if kind == 0:
            value, place = read_varint(message, place)
            yield tag >> 3, value
            continue
        if kind == 2:
            size, place = read_varint(message, place)
        else:
            size = {1: 8, 5: 4}.get(kind, -1)
        part = message[place : place + size]
        if size < 0 or len(part) < size:
            raise ValueError("not a message")
        place += size
        yield tag >> 3, part if kind == 2 else int.from_bytes(part, "little")
