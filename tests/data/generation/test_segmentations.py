"""Random segmentations of the training set, from the options of datagen to the batches."""

import itertools
import shutil

import pytest

from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.segmentations import sample_splits, sampling_of
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import Position, TrainingPipeline
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import Feature

CASE = Feature(name="source_case", stream="case")
WORDS = ["river", "rivers", "running", "run", "house", "houses", "mountain", "mountains"]


class Sampled(LocalProblem):
    """English to German, with a number for each English word."""

    languages = ("en", "de")
    vocab_size = 300
    num_shards = 2
    optional_splits = ("test",)
    features = (CASE,)


def sentence(number):
    return [WORDS[(number * 5 + i * i) % len(WORDS)] for i in range(1 + number % 4)]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for split, count in (("train", 60), ("dev", 4)):
        rows = [sentence(number) for number in range(count)]
        columns = {
            "en": [" ".join(row) for row in rows],
            "de": [" ".join(reversed(row)) for row in rows],
            "en.case": [" ".join(str(WORDS.index(word)) for word in row) for row in rows],
        }
        for name, lines in columns.items():
            (folder / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines))
    return folder


def make(data, raw, **options):
    options = {"sampled_segmentations": 3, "sampling_alpha": 0.3, **options}
    messages = []
    manifest = generate(
        Sampled(), str(data), str(raw), options=GenerateOptions(**options), log=messages.append
    )
    return manifest, messages


@pytest.fixture(scope="module")
def data(tmp_path_factory, raw):
    folder = tmp_path_factory.mktemp("data")
    make(folder, raw)
    return folder


def readers(data, count=3):
    files = Sampled().sampled_files(str(data), count)
    return tuple(RecordReader(tuple(names), features=(CASE,)) for names in files)


def usual(data):
    return RecordReader(tuple(Sampled().record_files(str(data), "train")), features=(CASE,))


def texts(reader, data):
    encoder = Sampled().vocabularies(str(data)).source
    return [
        tuple(encoder.decode(ids.tolist()) for ids in (pair.inputs, pair.targets))
        for pair in reader.read()
    ]


def test_samples_hold_the_same_pairs_in_the_same_order_in_other_tokens(data):
    expected = texts(usual(data), data)
    tokens = [[pair.inputs.tolist() for pair in reader.read()] for reader in readers(data)]
    assert all(texts(reader, data) == expected for reader in readers(data))
    assert all(a != b for a, b in itertools.combinations(tokens, 2))


def test_every_shard_and_both_sides_are_drawn_alone(tmp_path, raw):
    options = {"sampled_segmentations": 3, "sampling_alpha": 0.1, "sampling_sides": "both"}
    options["random_seed"] = 1
    splits = sample_splits(options)
    assert len({sampling_of(options, split, n).seed for split in splits for n in range(2)}) == 6
    for name in ("train.en", "train.de", "dev.en", "dev.de"):
        shutil.copy(raw / f"{name.partition('.')[0]}.en", tmp_path / name)
    make(tmp_path / "data", tmp_path, sampled_segmentations=1)
    (files,) = Sampled().sampled_files(str(tmp_path / "data"), 1)
    sampled = RecordReader(tuple(files)).read()
    pairs = [(pair.inputs.tolist(), pair.targets.tolist()) for pair in sampled]
    assert any(one != other for one, other in pairs)


def test_features_follow_the_segmentation(data):
    encoder = Sampled().vocabularies(str(data)).source
    for pair in readers(data)[1].read():
        words = encoder.decode(pair.inputs.tolist()).split()
        word, expected = -1, []
        for piece in encoder.pieces(pair.inputs[:-1].tolist()):
            word += piece.startswith("▁")
            expected.append(WORDS.index(words[word]))
        assert pair.features["source_case"].tolist() == [*expected, 0]


@pytest.mark.slow
def test_bytes_depend_on_options_alone_and_damage_is_repaired(tmp_path, raw, data):
    again = tmp_path / "again"
    make(again, raw, num_workers=2)
    names = sorted(path.name for path in data.glob("sampled-train-sample-*"))
    assert len(names) == 6
    assert all((again / name).read_bytes() == (data / name).read_bytes() for name in names)
    (again / names[3]).unlink()
    _, messages = make(again, raw)
    assert any(f"{names[3]} is missing" in line for line in messages)
    assert (again / names[3]).read_bytes() == (data / names[3]).read_bytes()


@pytest.mark.parametrize(("side", "drawn"), [("source", (True, False)), ("target", (False, True))])
def test_one_side_may_keep_its_usual_segmentation(tmp_path, raw, side, drawn):
    make(tmp_path, raw, sampling_sides=side)
    pairs = list(zip(usual(tmp_path).read(), readers(tmp_path)[0].read(), strict=True))
    for field, differs in zip(("inputs", "targets"), drawn, strict=True):
        same = all(getattr(a, field).tolist() == getattr(b, field).tolist() for a, b in pairs)
        assert same != differs


def test_epochs_take_the_segmentations_in_turn_and_are_resumed(data):
    samples = readers(data)
    buckets = Buckets.build(
        batch_size=256, max_length=64, min_length_bucket=16, length_bucket_step=2.0
    )
    pipeline = TrainingPipeline(usual(data), buckets, 3, samples=samples)
    stream = list(itertools.takewhile(lambda b: b.position.epoch < 4, pipeline.batches()))
    for epoch, batches in itertools.groupby(stream, key=lambda batch: batch.position.epoch):
        found = sorted(
            row[: row.index(1) + 1] for b in batches for row in b.inputs.tolist() if 1 in row
        )
        expected = samples[epoch % 3].read()
        assert found == sorted(pair.inputs.tolist() for pair in expected)
    middle = next(i for i, batch in enumerate(stream) if batch.position == Position(1, 2))
    resumed = pipeline.batches(Position(1, 2))
    for batch in stream[middle + 1 :]:
        following = next(resumed)
        assert following.position == batch.position
        assert (following.inputs == batch.inputs).all()


def test_data_of_another_number_are_other_data(data):
    problem = Sampled()
    digests = {problem.data_digest(str(data), (CASE,), count) for count in range(4)}
    assert len(digests) == 4 and "" not in digests


def test_what_cannot_be_is_refused(tmp_path, raw, data):
    with pytest.raises(UserError, match="have 3; make new data with t2t-phrase-datagen"):
        Sampled().sampled_files(str(data), 4)
    with pytest.raises(UserError, match="a vocabulary of words allows one segmentation only"):
        make(tmp_path, raw, vocab_type="words")
    with pytest.raises(UserError, match="made with different options"):
        make(shutil.copytree(data, tmp_path / "copy"), raw, sampling_alpha=0.2)
    for options, message in (
        ({"sampling_alpha": 0.2}, "is only used with sampled_segmentations"),
        ({"sampled_segmentations": 2, "sampling_alpha": 1.5}, "must be above 0 and below 1"),
        ({"sampled_segmentations": 2000}, "is over 1000"),
    ):
        with pytest.raises(HParamsError, match=message):
            GenerateOptions(**options)
