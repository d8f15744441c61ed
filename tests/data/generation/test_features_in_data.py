"""Features of either side, by name, from side files to batches."""

import dataclasses

import numpy as np
import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import PHRASES, Feature
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.annotations.word_numbers import WordNumbers

SOURCE_CASE = Feature(name="source_case", stream="case", pad=-1)
TARGET_CASE = Feature(name="target_case", side="target", stream="case", pad=7)
ABSENT = Feature(name="absent", stream="nowhere")


USER_MODULE = '''
from t2t_phrase import registry
from t2t_phrase.text.annotations.base import Annotation


@registry.annotation_types.register
class Brackets(Annotation):
    """A second feature of the same trees: how many brackets they have, for every token."""

    def read(self, sentence, line, other=None):
        assert other
        return str(line.count("("))

    def encode(self, own, text, other=None):
        assert other is not None and other.text
        return [int(text)] * len(own.ids)

    def end(self, numbers, other=None):
        assert other is not None and other.text
        return len(numbers)
'''


@pytest.fixture(scope="module", autouse=True)
def user_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user") / "brackets_of_a_user"
    folder.mkdir()
    (folder / "__init__.py").write_text(USER_MODULE)
    registry.discover(str(folder))
    assert str(folder) in registry.user_folders()
    return str(folder)


@pytest.fixture(autouse=True)
def no_user_folders(monkeypatch, user_folder):
    """Worker processes import the folder of this file only."""
    monkeypatch.setattr(registry, "user_folders", lambda: [user_folder])


BRACKETS = Feature(name="brackets", annotation="brackets", stream="trees")


class Cases(LocalProblem):
    languages = ("en", "de")
    vocab_size = 400
    num_shards = 2
    optional_splits = ("test",)
    features = (PHRASES, BRACKETS, SOURCE_CASE, TARGET_CASE, ABSENT)


def case_of(text):
    return " ".join(str(len(word) + 1) for word in text.split())


SIZES = {"train": 30, "dev": 4}


@pytest.fixture(scope="module")
def corpus():
    return {split: list(grammar.generate(split, size)) for split, size in SIZES.items()}


@pytest.fixture
def raw(tmp_path, corpus):
    folder = tmp_path / "raw"
    folder.mkdir()
    for split, pairs in corpus.items():
        columns = {
            "en": [pair.source for pair in pairs],
            "de": [pair.target for pair in pairs],
            "en.trees": [pair.tree for pair in pairs],
            "en.case": [case_of(pair.source) for pair in pairs],
            "de.case": [case_of(pair.target) for pair in pairs],
        }
        for name, lines in columns.items():
            (folder / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines))
    return folder


FOUND = (PHRASES, BRACKETS, SOURCE_CASE, TARGET_CASE)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_features_of_both_sides_reach_the_batches(tmp_path, raw, corpus, workers):
    data, problem = tmp_path / "data", Cases()
    messages = []
    options = GenerateOptions(num_workers=workers)
    generate(problem, str(data), str(raw), options=options, log=messages.append)
    problem.require_features(str(data), FOUND)
    encoder = problem.vocabularies(str(data)).source
    files = tuple(problem.record_files(str(data), "train"))
    for example in RecordReader(files, features=FOUND).read():
        for name, ids in (("source_case", example.inputs), ("target_case", example.targets)):
            text = encoder.decode(ids.tolist())
            (encoded,) = encoder.encode_with_starts([text])
            expected = WordNumbers().encode(Sentence(text, *encoded), case_of(text))
            assert example.features[name].tolist() == [*expected, 0]
        assert example.features["brackets"][-1] == len(example.inputs) - 1
    assert any(" phrases, " in line and line.endswith(" target_case") for line in messages)
    texts = problem.raw_features(str(data), "dev", (TARGET_CASE, PHRASES))
    assert texts["target_case"] == [case_of(pair.target) for pair in corpus["dev"]]
    assert (data / "cases-dev.target.case").exists() and (data / "cases-dev.case").exists()


def test_batches_are_padded_with_each_features_own_value(tmp_path, raw):
    generate(Cases(), str(tmp_path / "data"), str(raw), log=str)
    files = tuple(Cases().record_files(str(tmp_path / "data"), "dev"))
    buckets = Buckets((256,), (6,))
    (batch,) = evaluation_batches(RecordReader(files, features=FOUND), buckets)
    assert set(batch.features) == {"inputs", "targets"} | {feature.name for feature in FOUND}
    for feature in FOUND:
        ids = batch.inputs if feature.side == "source" else batch.targets
        values = batch.features[feature.name]
        assert values.shape == ids.shape and values.dtype == np.int32
        assert (values[ids == 0] == feature.pad).all() and values[ids > 0].any()
        if feature.pad not in (0, 7):
            assert (values[ids > 0] != feature.pad).all()


def test_sides_are_exchanged_in_reversed_problems(tmp_path, raw, corpus):
    data, reverse = str(tmp_path / "data"), Cases(reversed=True)
    generate(reverse, data, str(raw), log=str)
    flipped = dataclasses.replace(SOURCE_CASE, side="target")
    assert SOURCE_CASE.reversed == flipped and flipped.reversed == SOURCE_CASE
    reverse.require_features(data, (flipped, TARGET_CASE.reversed))
    files = tuple(reverse.record_files(data, "dev"))
    for example in RecordReader(files, reversed=True, features=(flipped,)).read():
        assert len(example.features["source_case"]) == len(example.targets)
    texts = reverse.raw_features(data, "dev", (flipped,))["source_case"]
    assert texts == [case_of(pair.source) for pair in corpus["dev"]]
    match = "'source_case' describes the en side of cases, which is not the source of cases_rev"
    with pytest.raises(UserError, match=match):
        reverse.require_features(data, (SOURCE_CASE,))
    with pytest.raises(UserError, match=r"which is not the target of cases, but the model"):
        Cases().require_features(data, (flipped,))


def test_what_is_lacking_is_said(tmp_path, raw):
    data = str(tmp_path / "data")
    generate(Cases(), data, str(raw), log=str)
    with pytest.raises(UserError, match=r"have no 'absent'.*train\.en\.nowhere and so on, beside"):
        Cases().require_features(data, (PHRASES, ABSENT))
    other = Feature(name="other", stream="x")
    with pytest.raises(UserError, match=r"cases has no feature 'other'.*features: phrases, br"):
        Cases().require_features(data, (other,))
    files = tuple(Cases().record_files(data, "dev"))
    match = r"record 0 of \S+cases-dev\S+ does not have one value of 'other' for each source token"
    with pytest.raises(UserError, match=match):
        list(RecordReader(files, features=(PHRASES, other)).read())


def test_features_that_come_later_are_added(tmp_path, raw):
    data = tmp_path / "data"
    kept = {path.name: path.read_bytes() for path in raw.glob("*.de.case")}
    for name in kept:
        (raw / name).unlink()
    generate(Cases(), str(data), str(raw), log=str)
    with pytest.raises(UserError, match=r"have no 'target_case'.*train\.de\.case"):
        Cases().require_features(str(data), (TARGET_CASE,))
    for name, content in kept.items():
        (raw / name).write_bytes(content)
    messages = []
    generate(Cases(), str(data), str(raw), log=messages.append)
    assert messages[0] == "cases: new side files found; adding target_case to the records"
    Cases().require_features(str(data), FOUND)
    messages.clear()
    generate(Cases(), str(data), str(raw), log=messages.append)
    assert messages == [f"cases: complete in {data}, nothing to do"]


@pytest.mark.parametrize(
    ("name", "line", "text", "fault"),
    [
        ("train.de.case", 3, "1", r"train\.de\.case:3: 1 integer for the \d+ words of"),
        ("dev.en.case", 2, "x", r"dev\.en\.case:2: 'x' is not a 32-bit integer"),
    ],
)
def test_misfits_are_named(tmp_path, raw, name, line, text, fault):
    lines = (raw / name).read_text().split("\n")
    lines[line - 1] = text
    (raw / name).write_text("\n".join(lines))
    with pytest.raises(UserError, match=rf"lines that do not fit their sentences: \S*{fault}"):
        generate(Cases(), str(tmp_path / "data"), str(raw), log=str)


def test_lengths_must_agree_with_the_text(tmp_path, raw):
    with open(raw / "dev.de.case", "a") as file:
        file.write("1\n")
    with pytest.raises(UserError, match=r"dev\.de\.case has 5 lines, but \S*dev\.de has 4 sent"):
        generate(Cases(), str(tmp_path / "data"), str(raw), log=str)
    (raw / "dev.de.case").unlink()
    match = r"dev\.de\.case is missing, but \S*train\.de\.case exists: .* all target files"
    with pytest.raises(UserError, match=match):
        generate(Cases(), str(tmp_path / "data"), str(raw), log=str)
