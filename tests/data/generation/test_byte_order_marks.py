"""U+FEFF within a corpus, as where files are joined that begin with it, stays where it is."""

import pytest

from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import PHRASES
from t2t_phrase.text.trees.parsers import flat_tree

SOURCES = ["the dog sleeps", "\ufeffa house is red", "my cat sees you", "\ufeff"] * 3
TARGETS = ["der Hund schläft", "ein Haus ist rot", "meine Katze sieht dich", "wir gehen"] * 3
DEV = ["\ufeffthe dog", "a cat"]


class Joined(LocalProblem):
    languages = ("en", "de")
    vocab_size = 300
    optional_splits = ("test",)


def write(path, lines, mark=""):
    path.write_text(mark + "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("shards", [1, 4])
def test_records_keep_it_in_any_number_of_shards_and_with_trees(tmp_path, shards):
    raw, data = tmp_path / "raw", str(tmp_path / "data")
    raw.mkdir()
    # The file's own mark is removed, and only that one.
    for name, lines in (("train.en", SOURCES), ("dev.en", DEV)):
        write(raw / name, lines, "\ufeff")
        write(raw / f"{name}.trees", map(flat_tree, lines))
    write(raw / "train.de", TARGETS)
    write(raw / "dev.de", TARGETS[:2])
    generate(Joined(), data, str(raw), options=GenerateOptions(num_shards=shards), log=str)

    source = Joined().vocabularies(data).source
    for split, sentences in (("train", SOURCES), ("dev", DEV)):
        files = tuple(Joined().record_files(data, split))
        found = [pair.inputs.tolist() for pair in RecordReader(files, features=(PHRASES,)).read()]
        assert sorted(map(source.decode, found)) == sorted(sentences)
    assert Joined().raw_text(data, "dev")[0] == DEV
    phrases = Joined().raw_features(data, "dev", (PHRASES,))["phrases"]
    assert phrases == DEV
