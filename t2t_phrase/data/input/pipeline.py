"""From record shards to padded batches: shuffled, bucketed by length, resumable at any batch."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.padding import Padder, Shape
from t2t_phrase.data.input.plan import Plan, buckets_of, epoch_order, plan_epoch
from t2t_phrase.data.input.reader import Pairs, RecordReader

# Batches of about so many places are read at once, which spreads the cost of each shard.
_PLACES = 2**19


class Position(NamedTuple):
    """A place in the endless stream of training batches."""

    epoch: int = 0
    batches: int = 0
    """How many batches of the epoch are consumed."""


class Batch(NamedTuple):
    """Sentence pairs padded to a bucket's shape; rows without a sentence are all padding."""

    features: dict[str, np.ndarray]
    """What a model reads, (rows, bound) int32 each: "inputs", "targets" and all features."""
    numbers: np.ndarray
    """The numbers of the sentence pairs among `pairs`, one for each row that is not empty."""
    pairs: Pairs
    """What they were read from."""
    position: Position
    """The position of the stream after this batch."""
    tokens: int
    """Source and target tokens, padding excluded."""

    @property
    def inputs(self) -> np.ndarray:
        """(rows, bound) int32, padded with 0."""
        return self.features["inputs"]

    @property
    def targets(self) -> np.ndarray:
        """(rows, bound) int32, padded with 0."""
        return self.features["targets"]

    @property
    def size(self) -> int:
        """Source and target places, padding included."""
        return self.inputs.size + self.targets.size

    def describe(self) -> str:
        """Return the position of the batch and the origin of its first examples."""
        rows, bound = self.inputs.shape
        places = [self.pairs.place(int(number)) for number in self.numbers[:3]]
        named = ", ".join(f"{file}#{record}" for file, record in places)
        more = f" and {len(self.numbers) - 3} more" if len(self.numbers) > 3 else ""
        return (
            f"batch {self.position.batches} of epoch {self.position.epoch} "
            f"({rows} x {bound} tokens; records {named}{more})"
        )


@dataclasses.dataclass
class EpochCount:
    """Counts of one pass over the training data."""

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

    Each epoch shuffles the pairs (`plan.epoch_order`), distributes them over the buckets, and
    yields the batch of a bucket as soon as it is full. At the end of an epoch the remaining pairs
    of short buckets fill up the batches of longer ones. All of this is decided from the lengths of
    the sentences; their tokens are read when their batch is due.

    Args:
        reader: the training shards.
        buckets: the shapes of the batches.
        seed: of the order; not negative.
        on_epoch: called with the counts of each epoch after it has been read.
        samples: shards of random segmentations of the same pairs; epoch e reads number e modulo
            their count. None: every epoch reads `reader`.
    """

    reader: RecordReader
    buckets: Buckets
    seed: int
    on_epoch: Callable[[EpochCount], None] = lambda count: None
    samples: tuple[RecordReader, ...] = ()

    def batches(self, start: Position = Position()) -> Iterator[Batch]:  # noqa: B008
        """Yield the batches after `start`; a resumed stream equals an uninterrupted one.

        Raises:
            UserError: no example fits `max_length`, or the data are damaged.
        """
        readers = self.samples or (self.reader,)
        skip = start.batches
        for epoch in itertools.count(start.epoch):
            if epoch == start.epoch or len(readers) > 1:
                pairs, buckets = self._open(readers[epoch % len(readers)])
                dropped = int(np.count_nonzero(buckets == len(self.buckets)))
                padder = Padder(pairs, self.reader.features)
            order = epoch_order(len(pairs), np.random.default_rng([self.seed, epoch]))
            plan = plan_epoch(order, buckets, self.buckets)
            yield from _read(plan, padder, self.buckets, epoch, skip)
            self.on_epoch(
                EpochCount(epoch, self.buckets.max_length, len(pairs), dropped, len(plan))
            )
            skip = 0

    def _open(self, reader: RecordReader) -> tuple[Pairs, np.ndarray]:
        """Return the pairs of some shards, and the bucket of each."""
        pairs = reader.open()
        if not len(pairs):
            raise _empty(reader)
        buckets = buckets_of(pairs, self.buckets)
        if np.all(buckets == len(self.buckets)):
            raise UserError(
                f"none of the {len(pairs)} training examples has at most "
                f"max_length={self.buckets.max_length} tokens; raise max_length"
            )
        return pairs, buckets


def evaluation_batches(reader: RecordReader, buckets: Buckets) -> list[Batch]:
    """Return all examples in batches, in a fixed order; larger buckets are added as needed.

    Raises:
        UserError: there are no examples, or the data are damaged.
    """
    pairs = reader.open()
    if not len(pairs):
        raise _empty(reader)
    wider = buckets.extended(
        max(int(c[name].lengths.max(initial=0)) for c in pairs.columns for name in c)
    )
    plan = plan_epoch(np.arange(len(pairs)), buckets_of(pairs, wider), wider)
    return list(_read(plan, Padder(pairs, reader.features), wider, 0, 0))


def _empty(reader: RecordReader) -> UserError:
    files = f"{reader.files[0]} and so on" if len(reader.files) > 1 else "".join(reader.files)
    return UserError(f"{files or 'the data'}: no sentence pairs; run t2t-phrase-datagen again")


def _read(plan: Plan, padder: Padder, buckets: Buckets, epoch: int, skip: int) -> Iterator[Batch]:
    """Yield the batches of a plan after the first `skip`, which are not read."""
    while skip < len(plan):
        shapes: list[Shape] = []
        members: list[np.ndarray] = []
        places = 0
        for number in range(skip, len(plan)):
            bucket = int(plan.buckets[number])
            shapes.append(Shape(buckets.rows[bucket], buckets.bounds[bucket]))
            members.append(plan.of(number))
            places += shapes[-1].rows * shapes[-1].bound
            if places >= _PLACES:
                break
        for (features, tokens), numbers in zip(padder.pad(shapes, members), members, strict=True):
            skip += 1
            yield Batch(features, numbers, padder.pairs, Position(epoch, skip), tokens)
