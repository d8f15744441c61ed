import random

import numpy as np
import pytest

from t2t_phrase.data.generation import spool
from t2t_phrase.data.generation.spool import Spool
from t2t_phrase.data.shards import shard as shards
from t2t_phrase.data.shards.shard import open_shard, write_arrays

SIDES = {"inputs": "source", "targets": "target", "levels": "source"}
TYPES = {"inputs": np.uint16, "targets": np.int32, "levels": np.int32}


def drawn(count, most=5):
    draw = random.Random(count)
    for _ in range(count):
        inputs = [draw.randrange(2**16) for _ in range(draw.randint(1, most))]
        targets = [draw.randrange(2**17) for _ in range(draw.randint(1, most))]
        yield {"inputs": inputs, "targets": targets, "levels": [-n for n in inputs]}


def rows(shard):
    columns = {name: shard.ragged(name) for name in SIDES}
    return [{k: c.row(i).tolist() for k, c in columns.items()} for i in range(shard.records)]


@pytest.mark.parametrize("count", [0, 1, 53])
def test_any_order_of_pairs_is_that_of_lists(tmp_path, monkeypatch, count):
    monkeypatch.setattr(spool, "_PAIRS", 7)
    pairs = list(drawn(count))
    order = np.random.default_rng(0).permutation(count)
    with Spool(tmp_path, TYPES, SIDES) as spooled:
        for start in range(0, count, 10):
            spooled.add(pairs[start : start + 10])
        assert rows(spooled.shard()) == pairs
        with spooled.in_order(order) as other:
            assert rows(other) == [pairs[i] for i in order]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("piece", [3, 2**20])
def test_a_shard_is_written_in_pieces(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(shards, "_BLOCK", piece)
    with Spool(tmp_path, TYPES, SIDES) as spooled:
        spooled.add(list(drawn(20)))
        write_arrays(tmp_path / "shard", spooled.shard())
        read = open_shard(tmp_path / "shard")
        assert rows(read) == rows(spooled.shard())
    assert [read.values[name].dtype for name in SIDES] == ["<u2", "<i4", "<i4"]
