"""Rows of several pairs: what they hold, and that they depend on nothing but lengths and order."""

import itertools

import numpy as np
import pytest
from tiny_training import random_pairs, write_shards

from t2t_phrase.data.input import packing, pipeline
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.packing import OPEN_ROWS, batches_of, lengths_of, pack_rows
from t2t_phrase.data.input.pipeline import Position, TrainingPipeline
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.features import IDS, PAIRS

SHAPE = Buckets((32,), (3,))
SIZES = [1 + i * 7 % 15 for i in range(61)]  # 1 to 15
LONGEST = 12
SENTENCES = random_pairs(SIZES)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_shards(tmp_path_factory.mktemp("records"), SENTENCES)


@pytest.fixture
def packed(files):
    return TrainingPipeline(
        RecordReader(files), SHAPE, 5, packed=True, max_length=LONGEST, on_epoch=COUNTS.append
    )


COUNTS = []


def epoch_of(stream, epoch=0):
    return list(itertools.takewhile(lambda batch: batch.position.epoch == epoch, stream))


def pairs_in(batch):
    """Return the pairs of a batch, row after row, in the order of their numbers in the row."""
    found = []
    for row in range(len(batch.inputs)):
        numbers = {side: batch.features[PAIRS[side]][row] for side in IDS}
        for number in range(1, max(map(np.max, numbers.values())) + 1):
            found.append(
                tuple(
                    batch.features[ids][row][numbers[side] == number].tolist()
                    for side, ids in IDS.items()
                )
            )
    return found


def test_an_epoch_holds_every_fitting_pair_once(packed):
    batches = epoch_of(packed.batches())
    fitting = [p for p, size in zip(SENTENCES, SIZES, strict=True) if size <= LONGEST]
    found = [pair for batch in batches for pair in pairs_in(batch)]
    assert sorted(found) == sorted(fitting)
    # In the order in which the batches name them.
    examples = list(packed.reader.read())
    named = [examples[number] for batch in batches for number in batch.numbers]
    assert [pair[0] for pair in found] == [example.inputs.tolist() for example in named]


def test_all_batches_have_one_shape_and_numbers_only_at_tokens(packed):
    batches = epoch_of(packed.batches())
    for batch in batches:
        for side, ids in IDS.items():
            assert batch.features[ids].shape == batch.features[PAIRS[side]].shape == (3, 32)
            real = batch.features[ids] > 0
            assert np.array_equal(real, batch.features[PAIRS[side]] > 0)
            # Pairs follow each other without gaps.
            assert np.all(real[:, :-1] >= real[:, 1:])
        assert batch.tokens == np.count_nonzero(batch.inputs) + np.count_nonzero(batch.targets)


def test_over_long_pairs_are_dropped_and_counted(packed):
    COUNTS.clear()
    stream = packed.batches()
    batches = epoch_of(stream)
    dropped = sum(size > LONGEST for size in SIZES)
    assert [str(count) for count in COUNTS] == [
        f"epoch 0: {len(batches)} batches of 61 examples, {dropped} of them longer than "
        f"max_length={LONGEST}: dropped"
    ]


def same(one, other):
    return one.position == other.position and all(
        np.array_equal(one.features[name], other.features[name]) for name in one.features
    )


def test_a_stream_resumes_anywhere_without_reading_what_was_consumed(packed, monkeypatch):
    monkeypatch.setattr(pipeline, "_PLACES", 200)
    whole = list(itertools.islice(packed.batches(), 12))
    assert whole[-1].position.epoch > 0
    for start in (0, 1, 4, 11):
        resumed = packed.batches(whole[start].position)
        assert all(map(same, whole[start + 1 :], resumed))
    read = []
    pad = pipeline.Padder.pad
    monkeypatch.setattr(pipeline.Padder, "pad", lambda *given: read.extend(given[2]) or pad(*given))
    last = next(packed.batches(Position(0, whole[4].position.batches)))
    assert np.array_equal(read[0], last.numbers)


def test_epochs_and_seeds_differ(packed, files):
    first, second = epoch_of(packed.batches()), epoch_of(packed.batches(Position(1)), 1)
    other = TrainingPipeline(RecordReader(files), SHAPE, 6, packed=True, max_length=LONGEST)
    orders = [
        np.concatenate([batch.numbers for batch in batches]).tolist()
        for batches in (first, second, epoch_of(other.batches()))
    ]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    assert orders[0] != orders[1] and orders[0] != orders[2]


def drawn_lengths(count, mean, length, seed=0):
    random = np.random.default_rng(seed)
    sources = np.clip(random.gamma(4, mean / 4, count), 1, length - 1).astype(int) + 1
    targets = np.clip(sources * random.normal(1.05, 0.15, count), 1, length).astype(int)
    return np.stack([sources, targets])


@pytest.mark.parametrize(("mean", "length"), [(15, 128), (30, 256)])
def test_less_than_a_sixteenth_is_padding(mean, length):
    """Sentences as long as those of Multi30k and news, targets a little longer than sources."""
    lengths = drawn_lengths(5000, mean, length)
    rows = list(pack_rows(np.arange(5000), lengths, length=length, longest=length))
    shares = 1 - lengths.sum(axis=1) / (len(rows) * length)
    assert shares.mean() < 1 / 16
    assert shares.min() < 1 / 32  # of the longer side
    assert all(lengths[:, row].sum(axis=1).max() <= length for row in rows)


def test_rows_come_in_about_the_order_of_their_pairs(monkeypatch):
    """So neither memory nor what is read at a time grows with the corpus."""
    lengths = drawn_lengths(4000, 15, 64)
    order = np.random.default_rng(1).permutation(4000)
    whole = list(pack_rows(order, lengths, length=64, longest=64))
    place = np.argsort(order)
    spread = [np.ptp(place[row]) for row in whole]
    assert np.mean(spread) < 10 * OPEN_ROWS
    monkeypatch.setattr(packing, "_SLICE", 7)
    assert list(pack_rows(order, lengths, length=64, longest=64)) == whole


def test_places_are_those_of_one_row_after_the_other():
    lengths = np.array([[3, 2, 4, 1], [1, 5, 2, 2]])
    ((numbers, places),) = batches_of(iter([[2, 0], [3, 1]]), lengths, length=10, size=3)
    assert numbers.tolist() == [2, 0, 3, 1]
    assert places.source.tolist() == [0, 4, 10, 11]
    assert places.target.tolist() == [0, 2, 10, 12]
    assert places.ordinals.tolist() == [1, 2, 1, 2]


def test_lengths_above_the_longest_are_alike(files):
    lengths = lengths_of(RecordReader(files).open(), 12)
    examples = list(RecordReader(files).read())
    expected = [[min(len(side), 13) for side in (e.inputs, e.targets)] for e in examples]
    assert lengths.dtype == np.uint8 and lengths.T.tolist() == expected
