"""Read record shards: `tf.train.Example`s with the int64 lists `inputs`, `targets`, `phrases`."""

from __future__ import annotations

import dataclasses
import functools
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
    phrases: np.ndarray | None = None
    """(S,) int32, the phrase of each input, if they were asked for."""

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
        phrases: whether to read the phrases too; they belong to the inputs as they are stored.

    Raises:
        ValueError: phrases of reversed pairs are asked for.
    """

    files: tuple[str, ...]
    reversed: bool = False
    phrases: bool = False

    def __post_init__(self) -> None:
        if self.reversed and self.phrases:
            raise ValueError("phrases are those of the inputs; reversed pairs have none")

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
        names = ("inputs", "targets", "phrases") if self.phrases else ("inputs", "targets")
        chunks = records.batch(_CHUNK).map(
            functools.partial(_parse, names),
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
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
        lists: tuple[tuple[np.ndarray, np.ndarray], ...],
    ) -> Iterator[Example]:
        inputs, targets = lists[1::-1] if self.reversed else lists[:2]
        (sources, source_splits), (labels, label_splits) = inputs, targets
        phrases = None
        if self.phrases:
            phrases, phrase_splits = lists[2]
            if not np.array_equal(phrase_splits, source_splits):
                wrong = int(np.argmax(np.diff(phrase_splits) != np.diff(source_splits)))
                raise UserError(
                    f"record {records[wrong]} of {self.files[shards[wrong]]} has not one phrase "
                    "number for each source token; write the data anew with t2t-phrase-datagen"
                )
        for i in range(len(records)):
            of_source = slice(source_splits[i], source_splits[i + 1])
            yield Example(
                sources[of_source],
                labels[label_splits[i] : label_splits[i + 1]],
                self.files[shards[i]],
                int(records[i]),
                None if phrases is None else phrases[of_source],
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
