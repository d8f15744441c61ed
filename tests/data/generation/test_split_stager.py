"""What becomes of data if sentences or vocabulary are now others, and of faulty lines."""

import json

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation import vocabulary
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus, Pair

TRAIN = [f"das alte Haus Nummer {n} steht dort" for n in range(40)]
OTHER = [f"jedes neue Boot {n} liegt im Hafen" for n in range(40)]
DEV = ["das Boot steht dort", "das Haus"]


class _Lines(Corpus):
    """Pairs of a line and its reverse; nothing tells whether they are those of an earlier run."""

    def __init__(self, lines):
        self._lines = lines

    def splits(self):
        return tuple(self._lines)

    def pairs(self, split):
        for number, line in enumerate(self._lines[split], start=1):
            yield Pair((line, line[::-1]), ("en", "de"), number)


class Lines(Problem):
    languages = ("en", "de")
    vocab_size = 300
    num_shards = 2

    def __init__(self, **lines):
        super().__init__()
        self.lines = lines

    def corpus(self, tmp_dir):
        return _Lines(self.lines)


def make(folder, log=str, **lines):
    return generate(Lines(**lines), str(folder), "", log=log)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_another_vocabulary_than_before_encodes_all_shards_again(tmp_path, monkeypatch):
    """As with another release of SentencePiece."""
    learn, given = vocabulary.learn_vocabulary, {"train": TRAIN, "dev": DEV}

    def otherwise(text, **options):
        return learn([*text, *OTHER * 5], **options)

    make(tmp_path / "data", **given)
    (tmp_path / "data" / "vocab.lines.300.model").unlink()
    monkeypatch.setattr(vocabulary, "learn_vocabulary", otherwise)
    before = content(tmp_path / "data")
    for folder in ("data", "fresh"):
        make(tmp_path / folder, **given)
    assert content(tmp_path / "data") == content(tmp_path / "fresh") != before


def lose(folder, split, **states):
    """Delete a shard and the text of a split, which must be made again; change the manifest."""
    for path in (*folder.glob(f"lines-{split}-00000-*"), *folder.glob(f"lines-{split}.*")):
        path.unlink()
    path = folder / "lines-manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **states}))


@pytest.mark.parametrize(("changed", "lines"), [("train", OTHER), ("dev", DEV[::-1])])
def test_unfinished_data_of_other_sentences_are_made_anew(tmp_path, changed, lines):
    given = {"train": TRAIN, "dev": DEV}
    make(tmp_path / "data", **given)
    lose(tmp_path / "data", changed, complete=False, released=False)
    for folder in ("data", "fresh"):
        make(tmp_path / folder, **{**given, changed: lines})
    assert content(tmp_path / "data") == content(tmp_path / "fresh")


@pytest.mark.parametrize(("changed", "lines"), [("train", OTHER), ("dev", DEV[::-1])])
def test_finished_data_are_not_replaced_by_other_sentences(tmp_path, changed, lines):
    given = {"train": TRAIN, "dev": DEV}
    make(tmp_path, **given)
    whole = content(tmp_path)
    lose(tmp_path, changed)
    with pytest.raises(UserError, match=f"the {changed} set of lines now has different sentences"):
        make(tmp_path, **{**given, changed: lines})
    # Once the corpus is the old one, they are mended.
    make(tmp_path, **given)
    assert content(tmp_path) == whole


def test_faulty_lines_are_left_out_of_the_training_set_only(tmp_path):
    said, faulty = [], [" ", "x" * 5000]
    manifest = make(tmp_path, said.append, train=[*TRAIN, *faulty], dev=[*DEV, *faulty])
    faults = {"empty side": 2, "side over 4000 characters": 2}
    for split, pairs in (("train", 40), ("dev", 4)):
        entry = manifest.splits[split]
        assert (entry["pairs"], entry["faults"]) == (pairs, faults)
        assert sum(shard["records"] for shard in entry["shards"]) == pairs
    assert [line.split(" (")[1] for line in said if line.startswith("    2 x")] == [
        *("dropped)", "dropped)", "kept)", "kept)")
    ]
    assert (tmp_path / "lines-dev.en").read_text().split("\n")[2:] == ["", "x" * 5000, ""]
