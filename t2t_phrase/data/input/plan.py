"""The distribution of pairs over the batches of an epoch, from the sentence lengths alone."""

from __future__ import annotations

import dataclasses

import numpy as np

from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.reader import Pairs
from t2t_phrase.data.shards.ragged import spans

# Constants, since they determine the order of the pairs.
SLAB = 256
WINDOW = 2**20

# Lengths are looked up in slices of this many pairs, which bounds the memory used.
_SLICE = 2**20


@dataclasses.dataclass(frozen=True)
class Plan:
    """The batches of an epoch; batch i belongs to `buckets[i]` and holds the pairs `of(i)`.

    Args:
        members: numbers of the pairs, those of a batch next to each other.
        starts: where in `members` each batch begins.
        counts: the number of pairs of each batch.
        buckets: the bucket of each batch.
    """

    members: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    buckets: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    def of(self, batch: int) -> np.ndarray:
        """Return the numbers of the pairs of a batch."""
        return self.members[self.starts[batch] : self.starts[batch] + self.counts[batch]]


def buckets_of(pairs: Pairs, buckets: Buckets) -> np.ndarray:
    """Return the bucket of each pair, by its longer side; `len(buckets)` where none is long enough.

    The result takes one or two bytes for each pair.
    """
    found = np.empty(len(pairs), np.min_scalar_type(len(buckets)))
    done = 0
    for columns in pairs.columns:
        sides = [columns[name].splits for name in ("inputs", "targets")]
        for start in range(0, len(sides[0]) - 1, _SLICE):
            lengths = np.maximum(*(np.diff(splits[start : start + _SLICE + 1]) for splits in sides))
            found[done : done + len(lengths)] = buckets.of(lengths)
            done += len(lengths)
    return found


def epoch_order(count: int, random: np.random.Generator) -> np.ndarray:
    """Return the numbers from 0 to count - 1 in random order.

    Runs of `SLAB` pairs are put in a random order, and each `WINDOW` of the result is shuffled.
    Thus, one window at a time is read from disk, in whole runs, and for up to `WINDOW` pairs, every
    order is equally likely. Datagen shuffles each shard.
    """
    firsts = random.permutation(-(-count // SLAB)) * SLAB
    order = spans(firsts, np.minimum(SLAB, count - firsts)).astype(_type_for(count))
    for start in range(0, count, WINDOW):
        random.shuffle(order[start : start + WINDOW])
    return order


def plan_epoch(order: np.ndarray, bucket_of: np.ndarray, buckets: Buckets) -> Plan:
    """Distribute pairs over the buckets; a batch comes as soon as its bucket is full.

    At the end, the remaining pairs of short buckets fill up the batches of longer ones. Pairs that
    fit no bucket are left out.

    Args:
        order: numbers of the pairs, in the order in which they are distributed.
        bucket_of: the bucket of each pair by number, see `buckets_of`.
        buckets: the shapes of the batches.
    """
    bucket_of = bucket_of[order]
    # Stable: within a bucket the pairs stay in their order.
    by_bucket = np.argsort(bucket_of, kind="stable").astype(_type_for(len(order)))
    members = order[by_bucket]
    ends = np.cumsum(np.bincount(bucket_of, minlength=len(buckets) + 1))[: len(buckets)]
    firsts = np.concatenate([[0], ends[:-1]])
    starts, full, left = [], [], []
    for bucket, (first, end) in enumerate(zip(firsts.tolist(), ends.tolist(), strict=True)):
        rows = buckets.rows[bucket]
        begun = np.arange(first, end - rows + 1, rows)
        starts.append(begun)
        full.append(np.full(len(begun), bucket))
        left += [(bucket, int(i)) for i in members[first + len(begun) * rows : end]]
    start, bucket_of_batch = np.concatenate(starts), np.concatenate(full)
    counts = np.asarray(buckets.rows)[bucket_of_batch]
    # Batches come in the order of the pairs that complete them.
    coming = np.argsort(by_bucket[start + counts - 1])
    last = _left_over(left, buckets)
    sizes = np.array([len(group) for _, group in last], np.int64)
    rest = np.array([pair for _, group in last for pair in group], members.dtype)
    return Plan(
        np.concatenate([members[: ends[-1]], rest]),
        np.concatenate([start[coming], ends[-1] + np.cumsum(sizes) - sizes]).astype(np.int64),
        np.concatenate([counts[coming], sizes]),
        np.concatenate([bucket_of_batch[coming], [bucket for bucket, _ in last]]).astype(np.int64),
    )


def _left_over(left: list[tuple[int, int]], buckets: Buckets) -> list[tuple[int, list[int]]]:
    """Return (bucket, pairs) of the last batches: the longest first, in the shape they need."""
    batches = []
    while left:
        bucket = left[-1][0]
        taken = [left.pop()[1] for _ in range(min(len(left), buckets.rows[bucket]))]
        batches.append((bucket, taken))
    return batches


def _type_for(count: int) -> type[np.signedinteger]:
    return np.int32 if count < 2**31 else np.int64
