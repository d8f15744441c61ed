"""Workers read their own rows of the batches that one worker would read."""

import itertools

import numpy as np
import pytest
from tiny_training import random_pairs, write_shards

from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.input.share import Share
from t2t_phrase.features import PAIRS

# Every number of rows is a multiple of the four shards.
BUCKETS = Buckets((6, 12), (12, 8))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pairs = random_pairs([1 + i * 7 % 12 for i in range(90)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)


def shares(workers, replicas, parts):
    return [
        Share.of(worker=worker, workers=workers, replicas=replicas, parts=parts)
        for worker in range(workers)
    ]


def rows_of(share, array):
    """The rows of the shards, in the order of these."""
    return np.concatenate([np.split(array, share.shards)[shard] for shard in share.own])


def test_the_shards_of_each_worker():
    assert [share.own for share in shares(2, 2, 1)] == [(0,), (1,)]
    assert [share.own for share in shares(2, 4, 1)] == [(0, 1), (2, 3)]
    # Each device computes two parts, one after the other.
    assert [share.own for share in shares(2, 2, 2)] == [(0, 2), (1, 3)]
    assert [share.own for share in shares(2, 4, 2)] == [(0, 1, 4, 5), (2, 3, 6, 7)]
    assert [share.is_all for share in (*shares(1, 2, 2), *shares(2, 2, 1))] == [True, False, False]


def test_places_of_rows():
    share = Share(4, (1, 3))
    assert share.rows(8) == 4
    assert share.places(8).tolist() == [-1, -1, 0, 1, -1, -1, 2, 3]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("workers", "replicas", "parts"), [(2, 2, 2), (4, 4, 1), (2, 4, 1)])
def test_batches_of_training(files, packed, workers, replicas, parts):
    buckets = Buckets((16,), (8,)) if packed else BUCKETS
    options = {"packed": packed, "max_length": 12}
    whole = TrainingPipeline(RecordReader(files), buckets, 5, **options).batches()
    batches = list(itertools.islice(whole, 25))
    for share in shares(workers, replicas, parts):
        stream = TrainingPipeline(RecordReader(files), buckets, 5, share=share, **options).batches()
        for expected, batch in zip(batches, stream, strict=False):
            for name in ("inputs", "targets", *(PAIRS.values() if packed else ())):
                rows = rows_of(share, expected.features[name])
                np.testing.assert_array_equal(batch.features[name], rows)
            np.testing.assert_array_equal(batch.numbers, expected.numbers)
            assert batch.target_tokens == np.count_nonzero(expected.targets)
            same = ("tokens", "target_tokens", "position", "shape", "size")
            assert [getattr(batch, name) for name in same] == [
                getattr(expected, name) for name in same
            ]
            assert batch.describe() == expected.describe()


def test_batches_of_the_development_set(files):
    whole = evaluation_batches(RecordReader(files), BUCKETS)
    for share in shares(2, 2, 1):
        for expected, batch in zip(
            whole, evaluation_batches(RecordReader(files), BUCKETS, share), strict=True
        ):
            np.testing.assert_array_equal(batch.inputs, rows_of(share, expected.inputs))
            assert batch.target_tokens == expected.target_tokens


def test_foreign_rows_are_not_read(files):
    reader = RecordReader(files)
    pairs = reader.open()
    for columns in pairs.columns:
        # Reading what is not there would be an error.
        columns["inputs"] = columns["inputs"]._replace(values=Unreadable(columns["inputs"].values))
    from t2t_phrase.data.input.padding import Padder, Shape

    padder = Padder(pairs, share=Share(2, (1,)))
    (content,) = padder.pad([Shape(8, 12)], [np.arange(8)])
    read = {i for columns in pairs.columns for i in columns["inputs"].values.read}
    assert content.features["inputs"].shape == (4, 12)
    # The pairs are dealt out to three shards; numbers 4 to 7 are of the first one.
    splits = pairs.columns[0]["inputs"].splits
    assert read == set(range(int(splits[4]), int(splits[8])))


class Unreadable:
    """Values that note which of them are read."""

    def __init__(self, values):
        self.values, self.read = values, set()

    def __getitem__(self, places):
        self.read |= set(np.asarray(places).tolist())
        return self.values[places]
