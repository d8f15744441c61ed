"""Sizes of text files, exact or estimated, without reading whole files."""

from __future__ import annotations

import pathlib
import zlib

# Compressed bytes from which the rest is estimated.
_SAMPLE = 2**20
_GZIP = 16 + zlib.MAX_WBITS


def text_size(path: pathlib.Path) -> int:
    """Return the bytes of a text file, or about those of its text if it is gzipped (`.gz`).

    Return 0 if the file cannot be read, which its reader will explain.
    """
    try:
        size = path.stat().st_size
        if path.suffix != ".gz" or not size:
            return size
        with open(path, "rb") as file:
            sample = file.read(_SAMPLE)
        return round(size * _unpacked(sample) / len(sample))
    except (OSError, zlib.error):
        return 0


def _unpacked(sample: bytes) -> int:
    """Return the bytes of text in the beginning of a gzipped file, of one or several members."""
    found = 0
    while sample:
        member = zlib.decompressobj(_GZIP)
        found += len(member.decompress(sample))
        sample = member.unused_data
    return found
