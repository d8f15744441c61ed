"""Which training pairs go to which shard, and which of them vocabularies are learnt from."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection


def deal(index: int, shards: int) -> int:
    """Return the shard of the pair at `index` of the corpus, faulty pairs included.

    So a process that makes one shard needs to know nothing of the pairs of others. Every round
    starts at the next shard: corpora have periods (in Multi30k even lines are shorter than odd
    ones), because of which shards would differ if each round started at the first.
    """
    return (index + index // shards) % shards


def dealt_to(own: Collection[int], shards: int) -> Callable[[int], bool]:
    """Return a function that tells whether the pair at an index goes to one of some shards."""
    if len(own) == shards:
        return lambda index: True
    chosen = [shard in own for shard in range(shards)]
    return lambda index: chosen[(index + index // shards) % shards]


def place_of(source: str, target: str) -> float:
    """Return a number in [0, 1) that looks random, by which pairs are sampled.

    It depends on nothing but their text, so the number of shards is irrelevant.
    """
    return zlib.crc32(target.encode(), zlib.crc32(source.encode())) / 2**32
