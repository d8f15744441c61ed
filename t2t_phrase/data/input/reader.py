"""Opens the shards of a split as one list of sentence pairs."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.shards.ragged import Ragged
from t2t_phrase.data.shards.shard import open_shard
from t2t_phrase.features import IDS, Feature, Side

_REPAIR = "run t2t-phrase-datagen again with the original flags to repair it"


class Example(NamedTuple):
    """One sentence pair and its origin."""

    inputs: np.ndarray
    """(S,) int32, EOS last."""
    targets: np.ndarray
    """(T,) int32, EOS last."""
    features: dict[str, np.ndarray]
    """(S,) or (T,) int32 for each requested feature, by name."""
    file: str
    """The shard."""
    record: int
    """Its place in the shard, from 0."""


@dataclasses.dataclass(frozen=True)
class Pairs:
    """The sentence pairs of a split, numbered from 0 through all of its shards.

    Args:
        files: the shards.
        columns: for each shard, the rows of "inputs", "targets" and each feature, by name.
        sides: the side whose tokens each column describes.
    """

    files: tuple[str, ...]
    columns: tuple[dict[str, Ragged], ...]
    sides: dict[str, Side]

    def __post_init__(self) -> None:
        counts = [len(columns["inputs"].splits) - 1 for columns in self.columns]
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))

    starts: np.ndarray = dataclasses.field(init=False)
    """(shards + 1,) int64: the number of the first pair of each shard, then the count of pairs."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def place(self, number: int) -> tuple[str, int]:
        """Return the shard of a pair, and its place there."""
        shard = bisect.bisect_right(self.starts, number) - 1
        return self.files[shard], number - int(self.starts[shard])


@dataclasses.dataclass(frozen=True)
class RecordReader:
    """Reads sentence pairs.

    Args:
        files: the shards of one split.
        reversed: whether inputs and targets are exchanged.
        features: further features to read; their sides are those after the exchange. If `reversed`,
            the `counterpart` of a feature that has one is read from the records.
    """

    files: tuple[str, ...]
    reversed: bool = False
    features: tuple[Feature, ...] = ()

    def open(self) -> Pairs:
        """Check the shards and return their content, which is read from disk as it is used.

        Raises:
            UserError: a shard is missing or damaged, or lacks a feature.
        """
        sides: dict[str, Side] = {name: side for side, name in IDS.items()}
        sides |= {feature.name: feature.side for feature in self.features}
        return Pairs(self.files, tuple(map(self._columns, self.files)), sides)

    def read(self) -> Iterator[Example]:
        """Yield all examples, one after the other.

        Raises:
            UserError: as for `open`.
        """
        pairs = self.open()
        for file, columns in zip(pairs.files, pairs.columns, strict=True):
            for record in range(len(columns["inputs"].splits) - 1):
                row = {name: found.row(record).astype(np.int32) for name, found in columns.items()}
                yield Example(row.pop("inputs"), row.pop("targets"), row, file, record)

    def _columns(self, file: str) -> dict[str, Ragged]:
        # The name of each column in the records.
        stored = {IDS["source"]: "inputs", IDS["target"]: "targets"}
        if self.reversed:
            stored = {"inputs": "targets", "targets": "inputs"}
        stored |= {f.name: f.stored_name(reversed=self.reversed) for f in self.features}
        try:
            found = _load(file, tuple(stored.values()))
        except FileNotFoundError as error:
            raise UserError(f"{file} is missing; {_REPAIR}") from error
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror or error}") from error
        except UserError as error:
            raise UserError(f"{error}; {_REPAIR}") from error
        ids: dict[Side, Ragged] = {side: found[stored[name]] for side, name in IDS.items()}
        for feature in self.features:
            expected, splits = ids[feature.side].splits, found[stored[feature.name]].splits
            if splits is not expected and not np.array_equal(splits, expected):
                wrong = int(np.argmax(np.diff(splits) != np.diff(expected)))
                raise UserError(
                    f"record {wrong} of {file} does not have one value of {feature.name!r} for "
                    f"each {feature.side} token; write the data again with t2t-phrase-datagen"
                )
        return {name: found[stored[name]] for name in stored}


def _load(file: str, names: tuple[str, ...]) -> dict[str, Ragged]:
    """Return the stored rows of these names, empty ones for a feature that the shard lacks."""
    shard = open_shard(file)
    none = Ragged(np.zeros(0, np.int32), np.zeros(shard.records + 1, np.int64))
    return {name: shard.ragged(name) if name in shard.values else none for name in names}
