"""Read record shards: `tf.train.Example`s with the int64 lists `inputs` and `targets`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from t2t_phrase.config import UserError

# Fixed, since they decide the order in which examples arrive.
_CYCLE = 16
_CHUNK = 4096


class Example(NamedTuple):
    """One sentence pair and where it was read."""

    inputs: np.ndarray
    """(S,) int32, EOS last."""
    targets: np.ndarray
    """(T,) int32, EOS last."""
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
        reversed: whether inputs and targets change places.
    """

    files: tuple[str, ...]
    reversed: bool = False

    def read(self, order: Sequence[int] | None = None) -> Iterator[Example]:
        """Yield all examples, records of several shards taking turns; the same order every time.

        Args:
            order: the order in which shards are opened; None: as they stand.

        Raises:
            UserError: a shard is damaged.
        """
        numbers = list(range(len(self.files)) if order is None else order)
        opened = tf.data.Dataset.from_tensor_slices(
            (np.array([self.files[i] for i in numbers]), np.array(numbers, np.int64))
        )
        records = opened.interleave(
            _open_shard,
            cycle_length=_CYCLE,
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )
        chunks = records.batch(_CHUNK).map(
            _parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
        )
        try:
            for chunk in chunks.prefetch(2).as_numpy_iterator():
                yield from self._examples(*chunk)
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise UserError(
                f"a shard is damaged ({error.message}); delete it and run t2t-phrase-datagen again"
            ) from error

    def _examples(
        self,
        shards: np.ndarray,
        records: np.ndarray,
        inputs: tuple[np.ndarray, np.ndarray],
        targets: tuple[np.ndarray, np.ndarray],
    ) -> Iterator[Example]:
        if self.reversed:
            inputs, targets = targets, inputs
        (sources, source_splits), (labels, label_splits) = inputs, targets
        for i in range(len(records)):
            yield Example(
                sources[source_splits[i] : source_splits[i + 1]],
                labels[label_splits[i] : label_splits[i + 1]],
                self.files[shards[i]],
                int(records[i]),
            )


def _open_shard(file: tf.Tensor, shard: tf.Tensor) -> tf.data.Dataset:
    records = tf.data.TFRecordDataset(file)
    return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(shard).repeat(), records.enumerate()))


_SPEC = {
    name: tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64) for name in ("inputs", "targets")
}


def _parse(
    shards: tf.Tensor, records: tuple[tf.Tensor, tf.Tensor]
) -> tuple[tf.Tensor, tf.Tensor, tuple[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]:
    numbers, serialized = records
    parsed = tf.io.parse_example(serialized, _SPEC)
    inputs, targets = (
        (tf.cast(parsed[name].values, tf.int32), parsed[name].row_splits)
        for name in ("inputs", "targets")
    )
    return shards, numbers, inputs, targets
