import itertools
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from tiny_training import random_pairs, write_shards

from t2t_phrase.config import UserError
from t2t_phrase.data.input import pipeline, plan
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.padding import Padder
from t2t_phrase.data.input.pipeline import Position, TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.shards.ragged import Ragged
from t2t_phrase.data.shards.shard import Shard, write_arrays

BUCKETS = Buckets((6, 9, 12), (6, 4, 2))
LENGTHS = [1 + i * 7 % 15 for i in range(61)]  # 1 to 15: some do not fit
PAIRS = random_pairs(LENGTHS)
FITTING = [pair for pair, length in zip(PAIRS, LENGTHS, strict=True) if length <= 12]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_shards(tmp_path_factory.mktemp("records"), PAIRS)


def rows(batches):
    """Return the sentence pairs in the arrays of batches, sorted."""
    found = []
    for batch in batches:
        for source, target in zip(batch.inputs, batch.targets, strict=True):
            if source.any() or target.any():
                found.append((source[source > 0].tolist(), target[target > 0].tolist()))
    return sorted(found)


def epoch_of(stream, epoch=0):
    return list(itertools.takewhile(lambda batch: batch.position.epoch == epoch, stream))


def same(one, other):
    return (
        one.position == other.position
        and np.array_equal(one.inputs, other.inputs)
        and np.array_equal(one.targets, other.targets)
    )


def test_an_epoch_holds_every_fitting_pair_once(files):
    batches = epoch_of(TrainingPipeline(RecordReader(files), BUCKETS, 5).batches())
    assert rows(batches) == sorted(FITTING)


def test_shapes_are_those_of_the_buckets(files):
    batches = epoch_of(TrainingPipeline(RecordReader(files), BUCKETS, 5).batches())
    allowed = set(zip(BUCKETS.rows, BUCKETS.bounds, strict=True))
    assert {batch.inputs.shape for batch in batches} == allowed
    for batch in batches:
        assert batch.targets.shape == batch.inputs.shape and batch.inputs.dtype == np.int32
        assert batch.tokens == np.count_nonzero(batch.inputs) + np.count_nonzero(batch.targets)
        assert batch.size == 2 * batch.inputs.size


def test_left_overs_share_batches(files):
    batches = epoch_of(TrainingPipeline(RecordReader(files), BUCKETS, 5).batches())
    partial = [batch for batch in batches if len(batch.numbers) < len(batch.inputs)]
    assert len(partial) <= 1


def test_over_long_examples_are_dropped_and_counted(files):
    counts = []
    stream = TrainingPipeline(RecordReader(files), BUCKETS, 5, counts.append).batches()
    batches = list(itertools.takewhile(lambda batch: batch.position.epoch == 0, stream))
    dropped = sum(length > 12 for length in LENGTHS)
    assert (counts[0].examples, counts[0].dropped) == (61, dropped)
    assert str(counts[0]) == (
        f"epoch 0: {len(batches)} batches of 61 examples, {dropped} of them longer than "
        "max_length=12: dropped"
    )


def test_the_stream_is_a_function_of_the_seed(files):
    def first(seed):
        return list(
            itertools.islice(TrainingPipeline(RecordReader(files), BUCKETS, seed).batches(), 9)
        )

    assert all(map(same, first(5), first(5)))
    assert not all(map(same, first(5), first(6)))


def test_global_seeds_do_not_matter(files):
    def first():
        return next(TrainingPipeline(RecordReader(files), BUCKETS, 5).batches())

    tf.random.set_seed(1)
    one = first()
    tf.random.set_seed(2)
    assert same(one, first())


def test_epochs_differ(files):
    stream = TrainingPipeline(RecordReader(files), BUCKETS, 5).batches()
    batches = list(itertools.islice(stream, 40))
    epochs = [[b for b in batches if b.position.epoch == e] for e in (0, 1)]
    assert rows(epochs[0]) == rows(epochs[1])
    assert [b.inputs.tolist() for b in epochs[0]] != [b.inputs.tolist() for b in epochs[1]]
    # Nor is the second epoch the first one of the next seed.
    other = TrainingPipeline(RecordReader(files), BUCKETS, 6).batches()
    assert not all(np.array_equal(a.inputs, b.inputs) for a, b in zip(epochs[1], other))  # noqa: B905


def test_a_stream_goes_on_from_any_position(files):
    training = TrainingPipeline(RecordReader(files), BUCKETS, 5)
    batches = list(itertools.islice(training.batches(), 35))
    assert batches[-1].position.epoch == 2
    for done in range(1, 34):
        resumed = next(training.batches(batches[done - 1].position))
        assert same(resumed, batches[done])


def test_windows_smaller_than_the_data(files, monkeypatch):
    monkeypatch.setattr(plan, "SLAB", 3)
    monkeypatch.setattr(plan, "WINDOW", 10)
    monkeypatch.setattr(plan, "_SLICE", 7)
    monkeypatch.setattr(pipeline, "_PLACES", 60)
    training = TrainingPipeline(RecordReader(files), BUCKETS, 5)
    batches = epoch_of(training.batches())
    assert rows(batches) == sorted(FITTING)
    assert same(next(training.batches(batches[3].position)), batches[4])


def test_a_resumed_stream_reads_nothing_that_was_consumed(files, monkeypatch):
    training = TrainingPipeline(RecordReader(files), BUCKETS, 5)
    batches = epoch_of(training.batches())
    read = []
    pad = Padder.pad
    monkeypatch.setattr(Padder, "pad", lambda *given: read.extend(given[2]) or pad(*given))
    next(training.batches(batches[-3].position))
    assert sorted(np.concatenate(read)) == sorted(
        number for batch in batches[-2:] for number in batch.numbers
    )


def test_reversed_readers_swap_the_sides(files):
    batches = epoch_of(TrainingPipeline(RecordReader(files, reversed=True), BUCKETS, 5).batches())
    assert rows(batches) == sorted((target, source) for source, target in FITTING)


def test_examples_say_where_they_are_from(files):
    for example in RecordReader(files).read():
        shard = files.index(example.file)
        assert PAIRS[shard :: len(files)][example.record] == (
            example.inputs.tolist(),
            example.targets.tolist(),
        )


def test_a_batch_describes_itself(files):
    batch = next(TrainingPipeline(RecordReader(files), BUCKETS, 5).batches())
    text = batch.describe()
    assert text.startswith("batch 1 of epoch 0 (")
    first = list(RecordReader(files).read())[batch.numbers[0]]
    assert f"records {first.file}#{first.record}, " in text
    assert batch.inputs[0, : len(first.inputs)].tolist() == first.inputs.tolist()


def test_nothing_fits(files):
    with pytest.raises(
        UserError, match="none of the 61 training examples has at most max_length=0"
    ):
        next(TrainingPipeline(RecordReader(files), Buckets((0,), (4,)), 5).batches())


def flipped(file, folder, place):
    content = bytearray(pathlib.Path(file).read_bytes())
    content[place] ^= 0xFF
    (folder / "damaged").write_bytes(content)


def test_a_damaged_shard_is_named(files, tmp_path):
    size = pathlib.Path(files[0]).stat().st_size
    for place in (0, 20, 60, size // 2, size - 8):
        flipped(files[0], tmp_path, place)
        shards = (files[1], str(tmp_path / "damaged"), files[2])
        with pytest.raises(UserError, match=rf"^{tmp_path / 'damaged'} is damaged.*; run t2t"):
            list(RecordReader(shards).read())
    for length in (size - 3, 200, 25, 3):
        (tmp_path / "damaged").write_bytes(pathlib.Path(files[0]).read_bytes()[:length])
        with pytest.raises(UserError, match=rf"^{tmp_path / 'damaged'} is damaged"):
            list(RecordReader(shards).read())
    (tmp_path / "damaged").write_bytes(b"not a shard, but as long as the beginning of one")
    with pytest.raises(UserError, match=rf"^{tmp_path / 'damaged'} is damaged"):
        next(TrainingPipeline(RecordReader(shards), BUCKETS, 5).batches())
    (tmp_path / "damaged").unlink()
    with pytest.raises(UserError, match=rf"^{tmp_path / 'damaged'} is missing; run t2t-phrase"):
        evaluation_batches(RecordReader(shards), BUCKETS)
    (tmp_path / "damaged").mkdir()
    with pytest.raises(UserError, match=rf"^cannot read {tmp_path / 'damaged'}: "):
        list(RecordReader(shards).read())


def test_no_examples_are_an_error(tmp_path):
    none = Ragged.of(np.zeros(0, np.int32), np.zeros(0, np.int64))
    names = {"inputs": "source", "targets": "target"}
    shard = Shard(
        dict.fromkeys(names.values(), none.splits), dict.fromkeys(names, none.values), names
    )
    write_arrays(tmp_path / "empty", shard)
    for count, text in ((1, "empty: no sentence pairs"), (2, "empty and so on: no sentence pairs")):
        reader = RecordReader((str(tmp_path / "empty"),) * count)
        with pytest.raises(UserError, match=text):
            evaluation_batches(reader, BUCKETS)
        with pytest.raises(UserError, match=text):
            next(TrainingPipeline(reader, BUCKETS, 5).batches())


def test_evaluation_keeps_all(files):
    batches = evaluation_batches(RecordReader(files), BUCKETS)
    assert rows(batches) == sorted(PAIRS)
    assert {batch.inputs.shape for batch in batches} <= {(6, 6), (4, 9), (2, 12), (1, 24)}
    again = evaluation_batches(RecordReader(files), BUCKETS)
    assert all(map(same, batches, again))


def test_position_starts_at_the_beginning():
    assert Position() == (0, 0)
