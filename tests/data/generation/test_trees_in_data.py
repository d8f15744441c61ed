"""Trees beside the source files become phrases in the records."""

import collections
import gzip
import hashlib
import json
import re
import shutil

import numpy as np
import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.problem import Problem, get_problem
from t2t_phrase.data.shards.shard import open_shard
from t2t_phrase.data.sources.downloaded_problem import DownloadedProblem
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import PHRASES, RARE_TAG, TAG_CLASSES, TAGS
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.annotations.phrases import Phrases
from t2t_phrase.text.annotations.tree_tags import TreeTags
from t2t_phrase.text.trees.cut_by_tree import cut_by_tree


class Treebank(LocalProblem):
    languages = ("en", "de")
    vocab_size = 400
    num_shards = 2
    optional_splits = ("test",)


SIZES = {"train": 30, "dev": 4}


@pytest.fixture(scope="module")
def corpus():
    return {split: list(grammar.generate(split, size)) for split, size in SIZES.items()}


def write(folder, corpus, *, trees=True):
    folder.mkdir()
    for split, pairs in corpus.items():
        columns = {
            "en": [pair.source for pair in pairs],
            "de": [pair.target for pair in pairs],
            "en.trees": [pair.tree for pair in pairs],
        }
        for name, lines in columns.items():
            if trees or name != "en.trees":
                (folder / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines))


def edit(path, line, text):
    lines = path.read_text().split("\n")
    lines[line - 1] = text
    path.write_text("\n".join(lines))


def make(folder, raw, problem=None):
    messages = []
    generate(problem or Treebank(), str(folder), str(raw), log=messages.append)
    return messages


@pytest.fixture(scope="module")
def made(tmp_path_factory, corpus):
    raw = tmp_path_factory.mktemp("raw") / "corpus"
    write(raw, corpus)
    # The seventh pair is dropped; whatever its tree is, the others keep theirs.
    edit(raw / "train.de", 7, "")
    edit(raw / "train.en.trees", 7, "no tree")
    data = tmp_path_factory.mktemp("data")
    return data, raw, make(data, raw)


def records(data, split):
    problem = Treebank()
    files = tuple(problem.record_files(str(data), split))
    return list(RecordReader(files, features=(PHRASES,)).read())


def test_every_source_has_the_phrases_of_its_own_tree(made, corpus):
    data = made[0]
    encoder = Treebank().vocabularies(str(data)).source
    for split, pairs in corpus.items():
        expected = {}
        for pair in pairs:
            phrases = "\t".join(cut_by_tree(pair.source, pair.tree))
            (encoded,) = encoder.encode_with_starts([pair.source])
            numbers = Phrases().encode(Sentence(pair.source, *encoded), phrases)
            expected[pair.source] = [*numbers, Phrases().end(numbers)]
        if split == "train":
            del expected[pairs[6].source]
        found = {
            encoder.decode(e.inputs.tolist()): e.features["phrases"].tolist()
            for e in records(data, split)
        }
        assert found == expected
        assert max(max(numbers) for numbers in found.values()) > 3


def test_trees_are_kept_beside_the_text(made, corpus):
    data, _, messages = made
    kept = (data / "treebank-train.trees").read_text().split("\n")[:-1]
    assert kept == [pair.tree for i, pair in enumerate(corpus["train"]) if i != 6]
    problem = Treebank()
    texts = problem.raw_features(str(data), "dev", (PHRASES,))["phrases"]
    cuts = [text.split("\t") for text in texts]
    assert cuts == [cut_by_tree(pair.source, pair.tree) for pair in corpus["dev"]]
    assert any("target tokens, " in line and line.endswith(" tags") for line in messages)
    assert make(data, made[1]) == [f"treebank: complete in {data}, nothing to do"]


def test_records_hold_the_labels_of_segments(made, corpus, tmp_path):
    data, raw, _ = made
    labels = (data / "vocab.treebank.tags.txt").read_text().split("\n")[:-1]
    counts = collections.Counter()
    for i, pair in enumerate(corpus["train"]):
        if i != 6:
            counts.update(TreeTags().labels(TreeTags().read(pair.source, pair.tree)))
    assert labels == sorted(counts, key=lambda label: (-counts[label], label)) and len(labels) > 9
    problem = Treebank()
    encoder, annotation = problem.vocabularies(str(data)).source, TreeTags().with_labels(labels)
    files = tuple(problem.record_files(str(data), "dev"))
    for example, pair in zip(
        RecordReader(files, features=(TAGS,)).read(), corpus["dev"], strict=True
    ):
        (encoded,) = encoder.encode_with_starts([pair.source])
        text = annotation.read(pair.source, pair.tree)
        expected = annotation.encode(Sentence(pair.source, *encoded), text)
        assert example.features["tags"].tolist() == [*expected, 0]

    # A lost file is made again; nothing else is.
    copy = tmp_path / "copy"
    shutil.copytree(data, copy)
    (copy / "vocab.treebank.tags.txt").unlink()
    messages = make(copy, raw)
    assert f"treebank: repairing: {copy / 'vocab.treebank.tags.txt'} is missing" in messages
    assert "treebank train: kept 2 of 2 shards" in messages
    assert (copy / "vocab.treebank.tags.txt").read_text().split("\n")[:-1] == labels


def test_the_rarest_labels_share_a_class(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(TreeTags, "most_labels", 5)
    write(tmp_path / "raw", corpus)
    messages = make(tmp_path / "data", tmp_path / "raw")
    (found,) = (line for line in messages if "rarest labels of" in line)
    assert re.fullmatch(r"treebank: the \d+ rarest labels of tags share one class", found)
    assert any("vocab.treebank.tags.txt: 5 labels of tags" in line for line in messages)
    (file,) = Treebank().record_files(str(tmp_path / "data"), "dev")
    found = {
        code % TAG_CLASSES
        for example in RecordReader((file,), features=(TAGS,)).read()
        for code in example.features["tags"].tolist()
    }
    assert {0, RARE_TAG} < found <= set(range(RARE_TAG + 6))


def test_batches_carry_phrases_only_when_asked(made):
    files = tuple(Treebank().record_files(str(made[0]), "train"))
    buckets = Buckets((16, 64), (4, 2))
    batch = next(TrainingPipeline(RecordReader(files, features=(PHRASES,)), buckets, 1).batches())
    assert set(batch.features) == {"inputs", "targets", "phrases"}
    phrases = batch.features["phrases"]
    assert phrases.shape == batch.inputs.shape and phrases.dtype == np.int32
    np.testing.assert_array_equal(phrases > 0, batch.inputs > 0)
    examples = list(RecordReader(files, features=(PHRASES,)).read())
    for row, number in zip(phrases, batch.numbers, strict=False):
        found = examples[number].features["phrases"]
        np.testing.assert_array_equal(row[: len(found)], found)
    plain = next(TrainingPipeline(RecordReader(files), buckets, 1).batches())
    assert set(plain.features) == {"inputs", "targets"}
    np.testing.assert_array_equal(plain.inputs, batch.inputs)
    dev = tuple(Treebank().record_files(str(made[0]), "dev"))
    assert all(
        b.features["phrases"].any()
        for b in evaluation_batches(RecordReader(dev, features=(PHRASES,)), buckets)
    )


def test_without_trees_the_data_is_as_ever(tmp_path, corpus):
    write(tmp_path / "raw", corpus, trees=False)
    data = tmp_path / "data"
    make(data, tmp_path / "raw")
    assert "phrases" not in (data / "treebank-manifest.json").read_text()
    assert not list(data.glob("*.trees"))
    (file,) = Treebank().record_files(str(data), "dev")
    encoder = Treebank().vocabularies(str(data)).source
    shard = open_shard(file)
    assert set(shard.values) == {"inputs", "targets"}
    first = corpus["dev"][0]
    for name, text in (("inputs", first.source), ("targets", first.target)):
        assert shard.ragged(name).row(0).tolist() == [*encoder.encode(text), 1]
    with pytest.raises(
        UserError,
        match=r"have no 'phrases'.*train\.en\.trees.*repeat the command that made the data, t2t-p",
    ):
        Treebank().require_features(str(data), (PHRASES,))
    with pytest.raises(
        UserError,
        match=r"record 0 of \S+ does not have one value of 'phrases' for each source token",
    ):
        list(RecordReader((file,), features=(PHRASES,)).read())

    # Trees that come later are taken up; vocabulary and order stay.
    before = (data / "vocab.treebank.400.model").read_bytes()
    (tmp_path / "raw").rename(tmp_path / "before")
    write(tmp_path / "raw", corpus)
    messages = make(data, tmp_path / "raw")
    assert "treebank: new side files found; adding phrases, levels, tags to the records" in messages
    assert (data / "vocab.treebank.400.model").read_bytes() == before
    Treebank().require_features(str(data), (PHRASES,))
    assert all(len(e.features["phrases"]) == len(e.inputs) for e in records(data, "train"))


def test_faulty_trees_that_come_later_can_be_corrected(tmp_path, corpus):
    raw, data = tmp_path / "raw", tmp_path / "data"
    write(raw, corpus, trees=False)
    make(data, raw)
    before = (data / "treebank-manifest.json").read_bytes()
    write(tmp_path / "trees", corpus)
    for split in corpus:
        shutil.copy(tmp_path / "trees" / f"{split}.en.trees", raw)
    right = (raw / "train.en.trees").read_bytes()
    edit(raw / "train.en.trees", 3, "(S no such words)")
    for fault in (r"train\.en\.trees:3: word 1", r"train\.en\.trees has 29 lines"):
        with pytest.raises(UserError, match=fault):
            make(data, raw)
        # Models can still be trained on the data as they were.
        assert (data / "treebank-manifest.json").read_bytes() == before
        assert Treebank().pairs(str(data), "train") == 30
        (raw / "train.en.trees").write_bytes(right[: right.rindex(b"\n", 0, -1) + 1])
    (raw / "train.en.trees").write_bytes(right)
    edit(raw / "dev.en.trees", 4, "(S no such words)")
    with pytest.raises(UserError, match=r"dev\.en\.trees:4"):
        make(data, raw)
    assert Treebank().record_files(str(data), "train")
    shutil.copy(tmp_path / "trees" / "dev.en.trees", raw)
    make(data, raw)
    Treebank().require_features(str(data), (PHRASES,))


def test_reversed_problems_have_no_phrases(made):
    with pytest.raises(
        UserError,
        match=r"'phrases' describes the en side of treebank, .* not the source of treebank_rev",
    ):
        Treebank(reversed=True).require_features(str(made[0]), (PHRASES,))


def test_problems_made_of_archives_say_where_trees_can_be_given(tmp_path):
    with pytest.raises(
        UserError, match=r"wmt14 has no feature 'phrases'.*\(its features: none\).*translate_text"
    ):
        get_problem("translate_ende_wmt14").require_features(str(tmp_path), (PHRASES,))


@pytest.mark.parametrize(
    "changes, fault",
    [
        ({("train.en.trees", 3): "(S x"}, r"train\.en\.trees:3: the brackets do not match"),
        ({("dev.en.trees", 2): ""}, r"dev\.en\.trees:2: the line is empty"),
        ({("train.en", 5): "Other words."}, r"train\.en\.trees:5: word 1 of the tree is"),
    ],
)
def test_trees_that_do_not_fit_are_named(tmp_path, corpus, changes, fault):
    write(tmp_path / "raw", corpus)
    for (name, line), text in changes.items():
        edit(tmp_path / "raw" / name, line, text)
    with pytest.raises(UserError, match=rf"lines that do not fit their sentences: \S*{fault}"):
        make(tmp_path / "data", tmp_path / "raw")


def test_all_files_have_trees_or_none(tmp_path, corpus):
    write(tmp_path / "raw", corpus)
    trees = tmp_path / "raw" / "dev.en.trees"
    lines = trees.read_text()
    trees.unlink()
    with pytest.raises(UserError, match=r"dev\.en\.trees is missing, but \S*train\.en\.trees"):
        make(tmp_path / "data", tmp_path / "raw")
    for other, count in ((lines + "(S x)\n", 5), (lines[: lines.index("\n") + 1], 1)):
        trees.write_text(other)
        match = rf"dev\.en\.trees has {count} lines?, but \S*dev\.en has 4 sentences.*--input_file"
        with pytest.raises(UserError, match=match):
            make(tmp_path / f"data{count}", tmp_path / "raw")
    trees.write_bytes(b"\xff\n")
    with pytest.raises(UserError, match=r"dev\.en\.trees:1: not UTF-8"):
        make(tmp_path / "data", tmp_path / "raw")


def test_downloaded_and_gzipped_text_has_trees_beside_it(tmp_path, corpus):
    sums = {}
    for split, pairs in corpus.items():
        for side, name in (("source", "en"), ("target", "de")):
            text = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
            content = gzip.compress(text.encode(), mtime=0)
            (tmp_path / f"{split}.{name}.gz").write_bytes(content)
            sums[f"{split}.{name}.gz"] = hashlib.sha256(content).hexdigest()

    class Fetched(DownloadedProblem):
        languages = ("en", "de")
        vocab_size = 400
        num_shards = 1
        url = "https://nowhere.invalid"
        sha256 = sums
        files = {s: (f"{s}.en.gz", f"{s}.de.gz") for s in SIZES}  # noqa: RUF012

    data = tmp_path / "data"
    make(data, tmp_path, Fetched())
    for split, suffix in (("train", ".gz"), ("dev", "")):
        lines = "".join(f"{pair.tree}\n" for pair in corpus[split]).encode()
        content = gzip.compress(lines) if suffix else lines
        (tmp_path / f"{split}.en.trees{suffix}").write_bytes(content)
    assert "adding phrases" in make(data, tmp_path, Fetched())[0]
    problem: Problem = Fetched()
    problem.require_features(str(data), (PHRASES,))
    inputs = json.loads((data / "fetched-manifest.json").read_text())["inputs"]
    assert {"train.en.trees.gz", "dev.en.trees"} < set(inputs)

    # Text that is not there can be downloaded; trees cannot.
    (tmp_path / "train.de.gz").unlink()
    assert "nothing to do" in make(data, tmp_path, Fetched())[0]
    for path in tmp_path.glob("*.trees*"):
        path.rename(tmp_path / f"{path.name}.kept")
    with pytest.raises(UserError, match=r"\(gone: train\.en\.trees\.gz, dev\.en\.trees\)"):
        make(data, tmp_path, Fetched())
    for path in tmp_path.glob("*.gz"):
        path.unlink()
    assert "nothing to do" in make(data, tmp_path, Fetched())[0]
    (tmp_path / "train.en.gz").write_bytes(b"another")
    with pytest.raises(UserError, match=r"\(changed: train\.en\.gz; gone: train\.en\.trees\.gz"):
        make(data, tmp_path, Fetched())
