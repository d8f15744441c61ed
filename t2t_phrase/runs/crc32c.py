"""The checksums in TensorFlow's files: CRC-32C, computed in NumPy for many pieces at a time."""

from __future__ import annotations

import functools

import numpy as np

# Castagnoli's polynomial, its bits reversed.
_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
# Bytes that are divided among the lanes at once, and the most lanes that are computed together.
_CHUNK = 2**23
_LANES = 2**16
# The fewest bytes of a lane; with fewer, joining lanes takes longer than computing the bytes.
_LEAST = 128
# Up to this many bytes, a loop in Python is faster.
_FEW = 4096


def crc32c(data: bytes | memoryview | np.ndarray, before: int = 0) -> int:
    """Return the CRC-32C of bytes.

    Args:
        data: bytes, or an array of uint8.
        before: the CRC-32C of the bytes before these.
    """
    given = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
    state = before ^ _ONES
    for start in range(0, len(given), _CHUNK):
        chunk = given[start : start + _CHUNK]
        state = int(_shifted(np.array([state], np.uint32), len(chunk))[0]) ^ _plain(chunk)
    return state ^ _ONES


def masked(crc: int) -> int:
    """Return a checksum as files hold it, so that checksums of checksums are not trivial."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & _ONES


def _plain(data: np.ndarray) -> int:
    """Return the state after (n,) uint8 from the state 0."""
    if len(data) <= _FEW:
        return _plain_loop(data)
    lanes = 1
    while lanes < _LANES and lanes * 2 * _LEAST <= len(data):
        lanes *= 2
    # Each lane has an even number of bytes. From the state 0, zeros at the front change nothing.
    length = -(-len(data) // (2 * lanes)) * 2
    padded = np.zeros(lanes * length, np.uint8)
    padded[len(padded) - len(data) :] = data
    words = np.ascontiguousarray(padded.view("<u2").reshape(lanes, -1).T)
    states, table = np.zeros(lanes, np.uint32), _table()
    for word in words:
        states = table[(states ^ word) & 0xFFFF] ^ (states >> 16)
    while len(states) > 1:
        states = _shifted(states[0::2], length) ^ states[1::2]
        length *= 2
    return int(states[0])


def _plain_loop(data: np.ndarray) -> int:
    table = _short_table()
    state = 0
    for byte in data.tobytes():
        state = table[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state


@functools.cache
def _short_table() -> list[int]:
    """Return the states after one byte from the state 0."""
    # A zero byte before it changes nothing.
    return _table()[np.arange(256) << 8].tolist()


@functools.cache
def _table() -> np.ndarray:
    """Return (65536,) uint32: the state after two bytes from the state 0, by these bytes."""
    table: np.ndarray = np.arange(2**16, dtype=np.uint32)
    for _ in range(16):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return table


def _shifted(states: np.ndarray, count: int) -> np.ndarray:
    """Return the states (n,) uint32 after `count` zero bytes."""
    return _times(_zeros(count), states)


@functools.lru_cache(maxsize=256)
def _zeros(count: int) -> np.ndarray:
    """Return (32,) uint32: the state that each bit of a state becomes after `count` zero bytes."""
    bits: np.ndarray = np.uint32(1) << np.arange(32, dtype=np.uint32)
    if count == 0:
        return bits
    if count == 1:
        for _ in range(8):
            bits = (bits >> 1) ^ np.where(bits & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
        return bits
    half = _zeros(count // 2)
    whole = _times(half, half)
    return _times(_zeros(1), whole) if count % 2 else whole


def _times(bits: np.ndarray, states: np.ndarray) -> np.ndarray:
    found = np.zeros_like(states)
    for place in range(32):
        found ^= bits[place] * ((states >> np.uint32(place)) & np.uint32(1))
    return found
