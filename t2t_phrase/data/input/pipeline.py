"""From record shards to padded batches: shuffled, bucketed by length, resumable at any batch."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.reader import Example, RecordReader

SHUFFLE_SIZE = 2**17


class Position(NamedTuple):
    """A place in the endless stream of training batches."""

    epoch: int = 0
    batches: int = 0
    """How many batches of the epoch are consumed."""


class Batch(NamedTuple):
    """Sentence pairs padded with 0 to a bucket's shape; rows without a sentence are all 0."""

    inputs: np.ndarray
    """(rows, bound) int32."""
    targets: np.ndarray
    """(rows, bound) int32."""
    examples: tuple[Example, ...]
    """The sentence pairs, one for each row that is not empty."""
    position: Position
    """Where the stream stands after this batch."""
    phrases: np.ndarray | None = None
    """(rows, bound) int32, the phrase of each input, if the reader reads them."""

    @property
    def features(self) -> dict[str, np.ndarray]:
        """What a model is given."""
        features = {"inputs": self.inputs, "targets": self.targets}
        return features if self.phrases is None else {**features, "phrases": self.phrases}

    @property
    def tokens(self) -> int:
        """Source and target tokens, padding excluded."""
        return sum(len(e.inputs) + len(e.targets) for e in self.examples)

    @property
    def size(self) -> int:
        """Source and target places, padding included."""
        return self.inputs.size + self.targets.size

    def describe(self) -> str:
        """Say which batch it is and where its first examples come from."""
        rows, bound = self.inputs.shape
        named = ", ".join(f"{e.file}#{e.record}" for e in self.examples[:3])
        more = f" and {len(self.examples) - 3} more" if len(self.examples) > 3 else ""
        return (
            f"batch {self.position.batches} of epoch {self.position.epoch} "
            f"({rows} x {bound} tokens; records {named}{more})"
        )


@dataclasses.dataclass
class EpochCount:
    """What one pass over the training data held, or held so far."""

    epoch: int
    max_length: int
    examples: int = 0
    dropped: int = 0

    def __str__(self) -> str:
        text = f"epoch {self.epoch}: {self.examples} examples"
        if self.dropped:
            text += f", {self.dropped} of them longer than max_length={self.max_length}: dropped"
        return text


@dataclasses.dataclass(frozen=True)
class TrainingPipeline:
    """An endless stream of batches, a function of its arguments alone.

    Each epoch opens the shards in another order, shuffles blocks of `SHUFFLE_SIZE` examples, fills
    the buckets, and yields a bucket's batch as soon as it is full. At the end of an epoch what is
    left of short buckets fills up the batches of longer ones.

    Args:
        reader: the training shards.
        buckets: the shapes of the batches.
        seed: not negative; another seed gives another order.
        on_epoch: is told each epoch's counts when the epoch has been read.
    """

    reader: RecordReader
    buckets: Buckets
    seed: int
    on_epoch: Callable[[EpochCount], None] = lambda count: None

    def batches(self, start: Position = Position()) -> Iterator[Batch]:  # noqa: B008
        """Yield the batches after `start`; a resumed stream goes on exactly as the first one.

        Raises:
            UserError: no example fits `max_length`, or the data are damaged.
        """
        skip = start.batches
        for epoch in itertools.count(start.epoch):
            count = EpochCount(epoch, self.buckets.max_length)
            groups = _group(self._shuffled(count), self.buckets)
            for number, (bucket, examples) in enumerate(itertools.islice(groups, skip, None)):
                yield _pad(examples, self.buckets, bucket, Position(epoch, skip + number + 1))
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
    """Return all examples in batches, in a fixed order, over-long ones in buckets of their own."""
    examples = list(reader.read())
    wider = buckets.extended(max((e.length for e in examples), default=0))
    return [
        _pad(group, wider, bucket, Position(0, number + 1))
        for number, (bucket, group) in enumerate(_group(examples, wider))
    ]


def _group(
    examples: Iterable[Example], buckets: Buckets
) -> Iterator[tuple[int, tuple[Example, ...]]]:
    """Yield (bucket, examples) once a bucket is full, then the left-overs."""
    waiting: list[list[Example]] = [[] for _ in buckets.bounds]
    bucket_of = np.zeros(buckets.max_length + 1, np.int64)
    bucket_of[:] = buckets.of(np.arange(buckets.max_length + 1))
    for example in examples:
        bucket = int(bucket_of[example.length])
        waiting[bucket].append(example)
        if len(waiting[bucket]) == buckets.rows[bucket]:
            yield bucket, tuple(waiting[bucket])
            waiting[bucket] = []
    # The longest left-overs come first, and each batch has the shape its longest sentence needs.
    left = [(i, example) for i, group in enumerate(waiting) for example in group]
    while left:
        bucket = left[-1][0]
        taken = [left.pop()[1] for _ in range(min(len(left), buckets.rows[bucket]))]
        yield bucket, tuple(taken)


def _pad(examples: tuple[Example, ...], buckets: Buckets, bucket: int, position: Position) -> Batch:
    shape = (buckets.rows[bucket], buckets.bounds[bucket])
    inputs, targets = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    phrases = None if examples[0].phrases is None else np.zeros(shape, np.int32)
    for row, example in enumerate(examples):
        inputs[row, : len(example.inputs)] = example.inputs
        targets[row, : len(example.targets)] = example.targets
        if phrases is not None and example.phrases is not None:
            phrases[row, : len(example.inputs)] = example.phrases
    return Batch(inputs, targets, examples, position, phrases)
