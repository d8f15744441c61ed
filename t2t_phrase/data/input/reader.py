"""Read record shards: `tf.train.Example`s with int64 lists of ids and features."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.features import IDS, Feature

# Constants, since they determine the order of the examples.
_CYCLE = 16
_CHUNK = 4096

_REPAIR = "t2t-phrase-datagen repairs it if it is run again with the flags of the first time"


class Example(NamedTuple):
    """One sentence pair and where it was read."""

    inputs: np.ndarray
    """(S,) int32, EOS last."""
    targets: np.ndarray
    """(T,) int32, EOS last."""
    features: dict[str, np.ndarray]
    """(S,) or (T,) int32 for each feature that was asked for, by name."""
    file: str
    """The shard."""
    record: int
    """Its place in the shard, from 0."""

    @property
    def length(self) -> int:
        """Tokens of the longer side."""
        return max(len(self.inputs), len(self.targets))


@dataclasses.dataclass(frozen=True)
class RecordReader:
    """Reads sentence pairs.

    Args:
        files: the shards of one split.
        reversed: whether inputs and targets are exchanged.
        features: what else to read; their sides are those after the exchange. The records hold the
            `counterpart` of one that has it.
    """

    files: tuple[str, ...]
    reversed: bool = False
    features: tuple[Feature, ...] = ()

    def read(self, order: Sequence[int] | None = None) -> Iterator[Example]:
        """Yield all examples, always in the same order; records of several shards are interleaved.

        Args:
            order: the order in which shards are opened; None: that of `files`.

        Raises:
            UserError: a shard is damaged or lacks a feature.
        """
        numbers = list(range(len(self.files)) if order is None else order)
        try:
            for chunk in self._chunks(numbers).prefetch(2).as_numpy_iterator():
                yield from self._examples(*chunk)
        except tf.errors.OpError as error:
            raise self._explained(error) from error

    def _chunks(self, numbers: Sequence[int]) -> tf.data.Dataset:
        opened = tf.data.Dataset.from_tensor_slices(
            (np.array([self.files[i] for i in numbers]), np.array(numbers, np.int64))
        )
        records = opened.interleave(
            _open_shard,
            cycle_length=_CYCLE,
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )
        names = (*IDS.values(), *(f.stored_name(reversed=self.reversed) for f in self.features))
        return records.batch(_CHUNK).map(
            functools.partial(_parse, names),
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )

    def _explained(self, error: tf.errors.OpError) -> UserError:
        """Return a sentence for a failed read: TensorFlow does not say which shard it was."""
        for number, file in enumerate(self.files):
            try:
                for _ in self._chunks([number]):
                    pass
            except tf.errors.NotFoundError:
                return UserError(f"{file} is missing; {_REPAIR}")
            except (tf.errors.DataLossError, tf.errors.InvalidArgumentError):
                return UserError(f"{file} is damaged; {_REPAIR}")
            except tf.errors.OpError as again:
                return UserError(f"cannot read {file}: {type(again).__name__}")
        return UserError(
            f"a shard could not be read ({type(error).__name__}), but now all of "
            f"{self.files[0]} and so on can: run the same command again"
        )

    def _examples(
        self,
        shards: np.ndarray,
        records: np.ndarray,
        lists: tuple[tuple[np.ndarray, np.ndarray], ...],
    ) -> Iterator[Example]:
        inputs, targets = lists[1::-1] if self.reversed else lists[:2]
        splits = {"source": inputs[1], "target": targets[1]}
        for feature, (_, found) in zip(self.features, lists[2:], strict=True):
            expected = splits[feature.side]
            if not np.array_equal(found, expected):
                wrong = int(np.argmax(np.diff(found) != np.diff(expected)))
                raise UserError(
                    f"record {records[wrong]} of {self.files[shards[wrong]]} does not have one "
                    f"value of {feature.name!r} for each {feature.side} token; write the data "
                    "again with t2t-phrase-datagen"
                )
        values = [
            (feature.name, found, splits[feature.side])
            for feature, (found, _) in zip(self.features, lists[2:], strict=True)
        ]
        for i in range(len(records)):
            yield Example(
                inputs[0][inputs[1][i] : inputs[1][i + 1]],
                targets[0][targets[1][i] : targets[1][i + 1]],
                {name: found[bounds[i] : bounds[i + 1]] for name, found, bounds in values},
                self.files[shards[i]],
                int(records[i]),
            )


def _open_shard(file: tf.Tensor, shard: tf.Tensor) -> tf.data.Dataset:
    records = tf.data.TFRecordDataset(file)
    return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(shard).repeat(), records.enumerate()))


def _parse(
    names: tuple[str, ...], shards: tf.Tensor, records: tuple[tf.Tensor, tf.Tensor]
) -> tuple[tf.Tensor, tf.Tensor, tuple[tuple[tf.Tensor, tf.Tensor], ...]]:
    """Return shards, records, and for each name all values and the row splits."""
    numbers, serialized = records
    ragged = {name: tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64) for name in names}
    parsed = tf.io.parse_example(serialized, ragged)
    lists = tuple(
        (tf.cast(parsed[name].values, tf.int32), parsed[name].row_splits) for name in names
    )
    return shards, numbers, lists
