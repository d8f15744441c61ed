"""The shards that training pairs go to, and the sampling of pairs to learn vocabularies from."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection


def deal(index: int, shards: int) -> int:
    """Return the shard of the pair at `index` of the corpus, faulty pairs included.

    A process that makes one shard thus needs no knowledge of the pairs of other shards. Each round
    starts one shard later: corpora have periodic patterns (in Multi30k, even lines are shorter than
    odd ones), which would make shards differ if every round started at the first.
    """
    return (index + index // shards) % shards


def dealt_to(own: Collection[int], shards: int) -> Callable[[int], bool]:
    """Return a function that tells whether the pair at an index goes to one of the shards `own`."""
    if len(own) == shards:
        return lambda index: True
    chosen = [shard in own for shard in range(shards)]
    return lambda index: chosen[(index + index // shards) % shards]


def place_of(source: str, target: str) -> float:
    """Return a pseudorandom number in [0, 1), by which pairs are sampled.

    It depends only on the text of the pair, so the number of shards is irrelevant.
    """
    return zlib.crc32(target.encode(), zlib.crc32(source.encode())) / 2**32
