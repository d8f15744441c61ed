"""Sizes of text files, as far as they can be told without reading them whole."""

from __future__ import annotations

import pathlib
import zlib

# Compressed bytes from which the rest is estimated.
_SAMPLE = 2**20
_GZIP = 16 + zlib.MAX_WBITS


def text_size(path: pathlib.Path) -> int:
    """Return the bytes of a text file, about those of the text if it is gzipped (`.gz`).

    0: the file cannot be read, which its reader will explain.
    """
    try:
        size = path.stat().st_size
        if path.suffix != ".gz" or not size:
            return size
        with open(path, "rb") as file:
            sample = file.read(_SAMPLE)
        return round(size * len(zlib.decompressobj(_GZIP).decompress(sample)) / len(sample))
    except (OSError, zlib.error):
        return 0
