"""From record shards to batches: shuffled, bucketed by length or packed, resumable anywhere."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.packing import Places, batches_of, lengths_of, pack_rows
from t2t_phrase.data.input.padding import Padder, Shape
from t2t_phrase.data.input.plan import buckets_of, epoch_order, plan_epoch
from t2t_phrase.data.input.reader import Pairs, RecordReader
from t2t_phrase.data.input.share import Share

# Batches with about this many places in all are read together, which spreads the cost per shard.
_PLACES = 2**19


class Position(NamedTuple):
    """A place in the endless stream of training batches."""

    epoch: int = 0
    batches: int = 0
    """The number of batches of the epoch that have been consumed."""


class Batch(NamedTuple):
    """Sentence pairs padded to a bucket's shape; rows without a sentence are all padding."""

    features: dict[str, np.ndarray]
    """The arrays that a model reads, (rows, bound) int32 each: "inputs", "targets" and all
    features; where rows hold several pairs, also the numbers of the pairs, see `features.PAIRS`.
    One of several workers has only its own rows, see `Share`; all other fields describe all rows.
    """
    shape: Shape
    """The rows and the bound."""
    numbers: np.ndarray
    """The numbers of the sentence pairs among `pairs`, in the order of the rows."""
    pairs: Pairs
    """The pairs that the batch was read from."""
    position: Position
    """The position of the stream after this batch."""
    tokens: int
    """Number of source and target tokens, padding excluded."""
    target_tokens: int
    """Number of target tokens."""

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
        """Number of source and target places, padding included."""
        return 2 * self.shape.rows * self.shape.bound

    def describe(self) -> str:
        """Return the position of the batch and the origin of its first examples."""
        rows, bound = self.shape
        places = [self.pairs.place(int(number)) for number in self.numbers[:3]]
        named = ", ".join(f"{file}#{record}" for file, record in places)
        more = f" and {len(self.numbers) - 3} more" if len(self.numbers) > 3 else ""
        return (
            f"batch {self.position.batches} of epoch {self.position.epoch} "
            f"({rows} x {bound} tokens; records {named}{more})"
        )


class _Planned(NamedTuple):
    """A batch that is still to be read."""

    shape: Shape
    members: np.ndarray
    """The numbers of its pairs."""
    places: Places | None
    """The places of the pairs; None: one pair in each row."""


# A function of the order of an epoch's pairs and the number of its batches to skip.
_Plan = Callable[[np.ndarray, int], Iterator[_Planned]]


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
    yields the batch of a bucket as soon as it is full. At the end of an epoch, the remaining pairs
    of short buckets fill up the batches of longer ones. If `packed`, a row holds as many pairs as
    fit into it (`packing.pack_rows`). All of this is decided from the lengths of the sentences;
    their tokens are read when their batch is due.

    Args:
        reader: the training shards.
        buckets: the shapes of the batches; a single one if `packed`.
        seed: seed of the order; not negative.
        on_epoch: called with the counts of each epoch after it has been read.
        samples: shards of random segmentations of the same pairs; epoch e reads number e modulo
            their count. If there are none, every epoch reads `reader`.
        packed: whether rows hold several pairs.
        max_length: longer pairs are left out; None: the length of the longest bucket.
        share: the rows that are read; the plan is the same for all shares.
    """

    reader: RecordReader
    buckets: Buckets
    seed: int
    on_epoch: Callable[[EpochCount], None] = lambda count: None
    samples: tuple[RecordReader, ...] = ()
    packed: bool = False
    max_length: int | None = None
    share: Share = Share()  # noqa: RUF009

    def batches(self, start: Position = Position()) -> Iterator[Batch]:  # noqa: B008
        """Yield the batches after `start`; a resumed stream equals an uninterrupted one.

        Raises:
            UserError: no example fits `max_length`, or the data are damaged.
        """
        readers = self.samples or (self.reader,)
        skip = start.batches
        for epoch in itertools.count(start.epoch):
            if epoch == start.epoch or len(readers) > 1:
                pairs, dropped, plan = self._open(readers[epoch % len(readers)])
                padder = Padder(pairs, self.reader.features, self.share)
            order = epoch_order(len(pairs), np.random.default_rng([self.seed, epoch]))
            batches = yield from _read(plan(order, skip), padder, epoch, skip)
            self.on_epoch(EpochCount(epoch, self._longest, len(pairs), dropped, batches))
            skip = 0

    @property
    def _longest(self) -> int:
        return self.buckets.max_length if self.max_length is None else self.max_length

    def _open(self, reader: RecordReader) -> tuple[Pairs, int, _Plan]:
        """Return the pairs of some shards, the number of overlong ones, and an epoch's planner."""
        pairs = reader.open()
        if not len(pairs):
            raise _empty(reader)
        plan: _Plan
        if self.packed:
            lengths = lengths_of(pairs, self._longest)
            dropped = int(np.count_nonzero(np.max(lengths, axis=0) > self._longest))
            plan = functools.partial(_packed, lengths, self.buckets, self._longest)
        else:
            found = buckets_of(pairs, self.buckets)
            dropped = int(np.count_nonzero(found == len(self.buckets)))
            plan = functools.partial(_bucketed, found, self.buckets)
        if dropped == len(pairs):
            raise UserError(
                f"none of the {len(pairs)} training examples has at most "
                f"max_length={self._longest} tokens; raise max_length"
            )
        return pairs, dropped, plan


def evaluation_batches(
    reader: RecordReader,
    buckets: Buckets,
    share: Share = Share(),  # noqa: B008
) -> list[Batch]:
    """Return all examples in batches, in a fixed order; larger buckets are added as needed.

    Args:
        reader: the shards.
        buckets: the shapes of the batches.
        share: the rows that are read.

    Raises:
        UserError: there are no examples, or the data are damaged.
    """
    pairs = reader.open()
    if not len(pairs):
        raise _empty(reader)
    wider = buckets.extended(
        max(int(c[name].lengths.max(initial=0)) for c in pairs.columns for name in c)
    )
    planned = _bucketed(buckets_of(pairs, wider), wider, np.arange(len(pairs)), 0)
    return list(_read(planned, Padder(pairs, reader.features, share), 0, 0))


def _empty(reader: RecordReader) -> UserError:
    files = f"{reader.files[0]} and so on" if len(reader.files) > 1 else "".join(reader.files)
    return UserError(f"{files or 'the data'}: no sentence pairs; run t2t-phrase-datagen again")


def _bucketed(
    bucket_of: np.ndarray, buckets: Buckets, order: np.ndarray, skip: int
) -> Iterator[_Planned]:
    """Yield the batches of an epoch after the first `skip`, by buckets."""
    plan = plan_epoch(order, bucket_of, buckets)
    for number in range(skip, len(plan)):
        bucket = int(plan.buckets[number])
        yield _Planned(Shape(buckets.rows[bucket], buckets.bounds[bucket]), plan.of(number), None)


def _packed(
    lengths: np.ndarray, buckets: Buckets, longest: int, order: np.ndarray, skip: int
) -> Iterator[_Planned]:
    """Yield the batches of an epoch after the first `skip`, with several pairs in each row."""
    shape = Shape(buckets.rows[0], buckets.bounds[0])
    rows = pack_rows(order, lengths, length=shape.bound, longest=longest)
    rows = itertools.islice(rows, skip * shape.rows, None)
    for numbers, places in batches_of(rows, lengths, length=shape.bound, size=shape.rows):
        yield _Planned(shape, numbers, places)


def _read(
    planned: Iterator[_Planned], padder: Padder, epoch: int, done: int
) -> Generator[Batch, None, int]:
    """Yield the planned batches, which follow `done` others of the epoch; return the total."""
    while group := _next_group(planned):
        shapes, members, places = zip(*group, strict=True)
        packed = None if places[0] is None else places
        padded = padder.pad(shapes, members, packed)
        for content, shape, numbers in zip(padded, shapes, members, strict=True):
            done += 1
            yield Batch(
                content.features,
                shape,
                numbers,
                padder.pairs,
                Position(epoch, done),
                content.tokens,
                content.targets,
            )
    return done


def _next_group(planned: Iterator[_Planned]) -> list[_Planned]:
    """Return the next batches, which are to be read together."""
    group: list[_Planned] = []
    places = 0
    for batch in planned:
        group.append(batch)
        places += batch.shape.rows * batch.shape.bound
        if places >= _PLACES:
            break
    return group
