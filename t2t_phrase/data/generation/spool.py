"""Temporary storage for the pairs of a shard, in files that vanish with the process."""

from __future__ import annotations

import array
import contextlib
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO

import numpy as np

from t2t_phrase.data.shards.ragged import Ragged
from t2t_phrase.data.shards.shard import Shard
from t2t_phrase.features import IDS, Side

# Pairs that are reordered at a time.
_PAIRS = 10_000


class Spool:
    """Collects pairs on disk, so that memory does not grow with the shard; a context manager.

    Args:
        folder: folder on whose disk the files lie, without names.
        types: the type of each column of integers, by name: "inputs", "targets" and features.
        side_of: the side that each column describes.
    """

    def __init__(
        self, folder: pathlib.Path, types: Mapping[str, type], side_of: Mapping[str, Side]
    ) -> None:
        self._folder = folder
        self._types = dict(types)
        self._side_of = dict(side_of)
        self._files: dict[str, IO[bytes]] = {}
        self._lengths = {side: array.array("i") for side in IDS}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Spool:
        for name in self._types:
            file = tempfile.TemporaryFile(dir=self._folder)
            self._files[name] = self._stack.enter_context(file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def add(self, pairs: Sequence[Mapping[str, Sequence[int]]]) -> None:
        """Add the integers of pairs, by name.

        Raises:
            OSError: the disk is full.
        """
        for name, kind in self._types.items():
            numbers = [number for pair in pairs for number in pair[name]]
            self._files[name].write(np.array(numbers, kind).data)
        for side, name in IDS.items():
            self._lengths[side].extend(len(pair[name]) for pair in pairs)

    def shard(self) -> Shard:
        """Return all pairs, mapped into memory, for use until the context ends.

        Raises:
            OSError: the disk is full.
        """
        splits = {
            side: Ragged.of(np.zeros(0), np.frombuffer(found, np.intc)).splits
            for side, found in self._lengths.items()
        }
        values = {name: _mapped(file, self._types[name]) for name, file in self._files.items()}
        return Shard(splits, values, self._side_of)

    @contextlib.contextmanager
    def in_order(self, order: np.ndarray) -> Iterator[Shard]:
        """Yield the pairs in another order, also on disk.

        Args:
            order: (pairs,) the numbers of the pairs in this order.

        Raises:
            OSError: the disk is full.
        """
        whole = self.shard()
        with Spool(self._folder, self._types, self._side_of) as other:
            for start in range(0, len(order), _PAIRS):
                taken = whole.take(order[start : start + _PAIRS])
                for name, values in taken.values.items():
                    other._files[name].write(values.data)
                for side, found in taken.splits.items():
                    other._lengths[side].extend(np.diff(found).tolist())
            yield other.shard()


def _mapped(file: IO[bytes], kind: type) -> np.ndarray:
    file.flush()
    # A file without content cannot be mapped.
    return np.memmap(file, kind, "r") if file.tell() else np.zeros(0, kind)
