"""From record shards to padded batches: shuffled, bucketed by length, resumable at any batch."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.reader import Example, RecordReader
from t2t_phrase.features import IDS, Feature

SHUFFLE_SIZE = 2**17


class Position(NamedTuple):
    """A place in the endless stream of training batches."""

    epoch: int = 0
    batches: int = 0
    """How many batches of the epoch are consumed."""


class Batch(NamedTuple):
    """Sentence pairs padded to a bucket's shape; rows without a sentence are all padding."""

    features: dict[str, np.ndarray]
    """What a model reads, (rows, bound) int32 each: "inputs", "targets" and all features."""
    examples: tuple[Example, ...]
    """The sentence pairs, one for each row that is not empty."""
    position: Position
    """The position of the stream after this batch."""

    @property
    def inputs(self) -> np.ndarray:
        """(rows, bound) int32, padded with 0."""
        return self.features["inputs"]

    @property
    def targets(self) -> np.ndarray:
        """(rows, bound) int32, padded with 0."""
        return self.features["targets"]

    @property
    def tokens(self) -> int:
        """Source and target tokens, padding excluded."""
        return sum(len(e.inputs) + len(e.targets) for e in self.examples)

    @property
    def size(self) -> int:
        """Source and target places, padding included."""
        return self.inputs.size + self.targets.size

    def describe(self) -> str:
        """Return the position of the batch and the origin of its first examples."""
        rows, bound = self.inputs.shape
        named = ", ".join(f"{e.file}#{e.record}" for e in self.examples[:3])
        more = f" and {len(self.examples) - 3} more" if len(self.examples) > 3 else ""
        return (
            f"batch {self.position.batches} of epoch {self.position.epoch} "
            f"({rows} x {bound} tokens; records {named}{more})"
        )


@dataclasses.dataclass
class EpochCount:
    """Counts of one pass over the training data, complete or in progress."""

    epoch: int
    max_length: int
    examples: int = 0
    dropped: int = 0
    batches: int = 0

    def __str__(self) -> str:
        text = f"epoch {self.epoch}: {self.batches} batches of {self.examples} examples"
        if self.dropped:
            text += f", {self.dropped} of them longer than max_length={self.max_length}: dropped"
        return text


@dataclasses.dataclass(frozen=True)
class TrainingPipeline:
    """An endless stream of batches, which depends only on its arguments.

    Each epoch opens the shards in a different order, shuffles blocks of `SHUFFLE_SIZE` examples,
    distributes them over the buckets, and yields the batch of a bucket as soon as it is full. At
    the end of an epoch the remaining examples of short buckets fill up the batches of longer ones.

    Args:
        reader: the training shards.
        buckets: the shapes of the batches.
        seed: of the order; not negative.
        on_epoch: called with the counts of each epoch after it has been read.
    """

    reader: RecordReader
    buckets: Buckets
    seed: int
    on_epoch: Callable[[EpochCount], None] = lambda count: None

    def batches(self, start: Position = Position()) -> Iterator[Batch]:  # noqa: B008
        """Yield the batches after `start`; a resumed stream equals an uninterrupted one.

        Raises:
            UserError: no example fits `max_length`, or the data are damaged.
        """
        skip = start.batches
        for epoch in itertools.count(start.epoch):
            count = EpochCount(epoch, self.buckets.max_length)
            groups = _group(self._shuffled(count), self.buckets)
            for number, (bucket, examples) in enumerate(itertools.islice(groups, skip, None)):
                position = Position(epoch, skip + number + 1)
                count.batches = position.batches
                yield _pad(self.reader.features, examples, self.buckets, bucket, position)
            if not count.examples:
                raise _empty(self.reader)
            if count.examples == count.dropped:
                raise UserError(
                    f"none of the {count.examples} training examples has at most "
                    f"max_length={self.buckets.max_length} tokens; raise max_length"
                )
            self.on_epoch(count)
            skip = 0

    def _shuffled(self, count: EpochCount) -> Iterator[Example]:
        random = np.random.default_rng([self.seed, count.epoch])
        stream = self.reader.read(random.permutation(len(self.reader.files)).tolist())
        while block := list(itertools.islice(stream, SHUFFLE_SIZE)):
            count.examples += len(block)
            for i in random.permutation(len(block)):
                if block[i].length <= count.max_length:
                    yield block[i]
                else:
                    count.dropped += 1


def evaluation_batches(reader: RecordReader, buckets: Buckets) -> list[Batch]:
    """Return all examples in batches, in a fixed order; larger buckets are added as needed.

    Raises:
        UserError: there are no examples, or the data are damaged.
    """
    examples = list(reader.read())
    if not examples:
        raise _empty(reader)
    wider = buckets.extended(max(e.length for e in examples))
    return [
        _pad(reader.features, group, wider, bucket, Position(0, number + 1))
        for number, (bucket, group) in enumerate(_group(examples, wider))
    ]


def _empty(reader: RecordReader) -> UserError:
    files = f"{reader.files[0]} and so on" if len(reader.files) > 1 else "".join(reader.files)
    return UserError(f"{files or 'the data'}: no sentence pairs; run t2t-phrase-datagen again")


def _group(
    examples: Iterable[Example], buckets: Buckets
) -> Iterator[tuple[int, tuple[Example, ...]]]:
    """Yield (bucket, examples) as soon as a bucket is full, then the remaining examples."""
    waiting: list[list[Example]] = [[] for _ in buckets.bounds]
    bucket_of = np.zeros(buckets.max_length + 1, np.int64)
    bucket_of[:] = buckets.of(np.arange(buckets.max_length + 1))
    for example in examples:
        bucket = int(bucket_of[example.length])
        waiting[bucket].append(example)
        if len(waiting[bucket]) == buckets.rows[bucket]:
            yield bucket, tuple(waiting[bucket])
            waiting[bucket] = []
    # The longest come first, and each batch has the shape that its longest sentence needs.
    left = [(i, example) for i, group in enumerate(waiting) for example in group]
    while left:
        bucket = left[-1][0]
        taken = [left.pop()[1] for _ in range(min(len(left), buckets.rows[bucket]))]
        yield bucket, tuple(taken)


def _pad(
    extra: Sequence[Feature],
    examples: tuple[Example, ...],
    buckets: Buckets,
    bucket: int,
    position: Position,
) -> Batch:
    shape = (buckets.rows[bucket], buckets.bounds[bucket])
    features = {name: np.zeros(shape, np.int32) for name in IDS.values()}
    features |= {feature.name: np.full(shape, feature.pad, np.int32) for feature in extra}
    for row, example in enumerate(examples):
        features["inputs"][row, : len(example.inputs)] = example.inputs
        features["targets"][row, : len(example.targets)] = example.targets
        for name, values in example.features.items():
            features[name][row, : len(values)] = values
    return Batch(features, examples, position)
