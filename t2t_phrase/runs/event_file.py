"""Files of scalars for TensorBoard."""

from __future__ import annotations

import itertools
import os
import pathlib
import socket
import struct
import time
from collections.abc import Mapping

import numpy as np

from t2t_phrase.runs.crc32c import crc32c, masked
from t2t_phrase.runs.protobuf import field, fixed

_VERSION = b"brain.Event:2"
_FLOAT32 = 1
# Tells TensorBoard that a tensor is a scalar, and which of its pages shows it.
_SCALAR = field(1, field(1, b"scalars")) + field(4, 1)
_COUNT = itertools.count()


class EventFile:
    """A new file in a folder, which `write` appends to.

    Args:
        folder: created if it does not exist.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        now = time.time()
        # Named as by TensorFlow, so that files of one process differ, and sort by time.
        host, number = socket.gethostname(), next(_COUNT)
        name = f"events.out.tfevents.{int(now):010d}.{host}.{os.getpid()}.{number}.v2"
        self._file = open(pathlib.Path(folder) / name, "xb", buffering=0)  # noqa: SIM115
        self._file.write(_record(fixed(1, now) + field(3, _VERSION)))

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Append scalars.

        Args:
            step: number of updates made.
            values: the scalars by name.

        Raises:
            OSError: the scalars cannot be written.
        """
        records = []
        for name, value in values.items():
            data = np.asarray(value, "<f4").tobytes()
            tensor = field(1, _FLOAT32) + field(2, b"") + field(5, data)
            summary = field(1, field(1, name.encode()) + field(8, tensor) + field(9, _SCALAR))
            event = fixed(1, time.time()) + field(2, step) + field(5, summary)
            records.append(_record(event))
        self._file.write(b"".join(records))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _record(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + _checksum(length) + event + _checksum(event)


def _checksum(data: bytes) -> bytes:
    return struct.pack("<I", masked(crc32c(data)))
