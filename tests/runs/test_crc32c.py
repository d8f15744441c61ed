"""Checksums, against a loop over bits and known values."""

import numpy as np
import pytest

from t2t_phrase.runs.crc32c import crc32c, masked


def by_bits(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_known_values() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    # RFC 3720, B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA and crc32c(b"\xff" * 32) == 0x62A8AB43
    assert masked(0) == 0xA282EAD8 and masked(0x00008000) == 0xA282EAD9


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 4095, 4096, 4097, 5000, 40_001])
def test_any_size_alone_and_continued(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    assert crc32c(data) == by_bits(data)
    assert crc32c(np.frombuffer(data, np.uint8)) == by_bits(data)
    for cut in (0, size // 3, size):
        assert crc32c(data[cut:], crc32c(data[:cut])) == by_bits(data)


def test_data_that_are_read_in_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).bytes(30_011)
    monkeypatch.setattr("t2t_phrase.runs.crc32c._CHUNK", 8192)
    assert crc32c(data) == by_bits(data)
