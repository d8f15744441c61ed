"""The data that a training run reads, and the shapes of its batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import EpochCount
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.training.run_options import RunOptions
from t2t_phrase.training_hparams import TrainingHParams


def evaluation_shapes(hparams: TrainingHParams, shards: int) -> Buckets:
    """Return the buckets of the development set, and of training without packed rows."""
    return Buckets.build(
        batch_size=hparams.batch_size,
        max_length=hparams.max_length,
        min_length_bucket=hparams.min_length_bucket,
        length_bucket_step=hparams.length_bucket_step,
        replicas=shards,
    )


def training_shapes(hparams: TrainingHParams, shards: int) -> Buckets:
    """Return the buckets of training; for packed rows, there is only one."""
    length = hparams.packed_length
    if not length:
        return evaluation_shapes(hparams, shards)
    return Buckets((length,), (hparams.batch_size // length * shards,), shards)


def make_reader(options: RunOptions, split: str) -> RecordReader:
    """Return the reader of a split."""
    return _reads(options, options.problem.record_files(options.data_dir, split))


def sampled_readers(options: RunOptions) -> tuple[RecordReader, ...]:
    """Return the readers of the training data's sampled segmentations."""
    count = options.hparams.sampled_segmentations
    shards = options.problem.sampled_files(options.data_dir, count)
    return tuple(_reads(options, files) for files in shards)


def _reads(options: RunOptions, files: Sequence[str]) -> RecordReader:
    return RecordReader(
        tuple(files),
        reversed=options.problem.reversed,
        features=options.hparams.training_features,
    )


@dataclasses.dataclass
class EpochLog:
    """Logs the counts of the first epoch, and of later ones if they differ."""

    log: Callable[[str], None]
    _said: tuple[int, int] = (0, 0)

    def __call__(self, count: EpochCount) -> None:
        """Log the counts of an epoch if they are new."""
        if (count.examples, count.dropped) != self._said:
            self._said = (count.examples, count.dropped)
            self.log(str(count))
