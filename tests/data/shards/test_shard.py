import numpy as np
import pytest
from tiny_training import ragged

from t2t_phrase.data.shards.shard import Shard, open_shard, read_records, write_arrays

ROWS = [[5, 1], [1], [65535, 7, 1]]
TAGS = [[-1, 3], [0], [70000, 0, 0]]


@pytest.fixture
def shard():
    source, target, tags = ragged(ROWS), ragged(ROWS[::-1]), ragged(TAGS)
    return Shard(
        {"source": source.splits, "target": target.splits},
        {"inputs": source.values, "targets": target.values, "tags": tags.values},
        {"inputs": "source", "targets": "target", "tags": "source"},
    )


def rows_of(shard, name):
    found = shard.ragged(name)
    return [found.row(i).tolist() for i in range(shard.records)]


def test_what_is_written_is_read(shard, tmp_path):
    path = tmp_path / "shard"
    write_arrays(path, shard)
    found = open_shard(path)
    assert read_records(path) == found.records == 3
    assert rows_of(found, "inputs") == ROWS and rows_of(found, "targets") == ROWS[::-1]
    assert rows_of(found, "tags") == TAGS and found.side_of == shard.side_of
    assert [found.values[n].dtype for n in ("inputs", "tags")] == [np.uint16, np.int32]
    again = tmp_path / "again"
    write_arrays(again, found)
    assert again.read_bytes() == path.read_bytes()


def test_pairs_in_another_order(shard):
    taken = shard.take(np.array([2, 0]))
    assert taken.records == 2
    assert rows_of(taken, "inputs") == [ROWS[2], ROWS[0]]
    assert rows_of(taken, "targets") == [ROWS[0], ROWS[2]]
    assert rows_of(taken, "tags") == [TAGS[2], TAGS[0]]


def test_a_shard_without_pairs(shard, tmp_path):
    write_arrays(tmp_path / "shard", shard.take(np.array([], np.int64)))
    found = open_shard(tmp_path / "shard")
    assert found.records == 0 and all(not len(values) for values in found.values.values())
