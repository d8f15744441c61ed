import hashlib

import numpy as np
from tiny_training import ragged

from t2t_phrase.data.generation import shard_digests
from t2t_phrase.data.shards.shard import Shard

SOURCE, TARGET, TAGS = [[5, 1], [1], [9, 7, 1]], [[6, 1], [8, 6, 1], [1]], [[1, 0], [0], [2, 3, 0]]


def digest(rows):
    content = b"".join(np.array([len(row), *row], "<i4").tobytes() for row in rows)
    return hashlib.sha256(content).hexdigest()


def test_digests_are_of_rows_with_their_lengths(monkeypatch):
    sides = {"inputs": SOURCE, "targets": TARGET, "tags": TAGS}
    shard = Shard(
        {"source": ragged(SOURCE).splits, "target": ragged(TARGET).splits},
        {name: ragged(rows).values for name, rows in sides.items()},
        {"inputs": "source", "targets": "target", "tags": "source"},
    )
    in_turn = [row for pair in zip(SOURCE, TARGET, strict=True) for row in pair]
    for records in (2, 100):
        monkeypatch.setattr(shard_digests, "_RECORDS", records)
        assert shard_digests.digests_of(shard) == {"ids": digest(in_turn), "tags": digest(TAGS)}
