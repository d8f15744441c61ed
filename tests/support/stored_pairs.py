"""The sentence pairs of a shard as Python lists."""

from __future__ import annotations

from collections.abc import Iterator

from t2t_phrase.data.shards.shard import open_shard
from t2t_phrase.features import IDS


def stored_pairs(path: str) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (inputs, targets) of each record of a shard, as they are stored."""
    shard = open_shard(path)
    inputs, targets = (shard.ragged(name) for name in IDS.values())
    for record in range(shard.records):
        yield inputs.row(record).tolist(), targets.row(record).tolist()
