"""Digests of the content of shards, independent of their format."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from t2t_phrase.data.shards.ragged import Ragged, spans
from t2t_phrase.data.shards.shard import Shard
from t2t_phrase.features import IDS

# Records that are digested at a time.
_RECORDS = 10000


def digests_of(shard: Shard) -> dict[str, str]:
    """Return the SHA-256 of the "ids" and of each feature.

    The sentences are digested in order, each as 32-bit integers preceded by their number; for the
    ids, the source of each pair and then its target.
    """
    inputs, targets = (shard.ragged(name) for name in IDS.values())
    columns: dict[str, tuple[Ragged, ...]] = {"ids": (inputs, targets)}
    columns |= {name: (shard.ragged(name),) for name in shard.values if name not in IDS.values()}
    digests = {name: hashlib.sha256() for name in columns}
    for start in range(0, shard.records, _RECORDS):
        records = slice(start, start + _RECORDS)
        for name, column in columns.items():
            digests[name].update(_in_turn([_with_lengths(rows, records) for rows in column]))
    return {name: digest.hexdigest() for name, digest in digests.items()}


def _with_lengths(rows: Ragged, records: slice) -> Ragged:
    """Return some rows, each preceded by its length."""
    splits = rows.splits[records.start : records.stop + 1]
    values = rows.values[splits[0] : splits[-1]]
    lengths = np.diff(splits)
    begun = np.insert(values.astype("<i4"), splits[:-1] - splits[0], lengths)
    return Ragged.of(begun, lengths + 1)


def _in_turn(columns: Sequence[Ragged]) -> bytes:
    """Return the first row of each column, then the second row of each, and so on."""
    offsets = np.cumsum([0] + [len(rows.values) for rows in columns[:-1]])
    starts = np.stack(
        [rows.splits[:-1] + offset for rows, offset in zip(columns, offsets, strict=True)], axis=1
    )
    lengths = np.stack([rows.lengths for rows in columns], axis=1)
    together = np.concatenate([rows.values for rows in columns])
    return together[spans(starts.reshape(-1), lengths.reshape(-1))].tobytes()
