"""Alignments beside the target files become positions in the records, in both directions."""

import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.sources.grammar_problem import GrammarProblem
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import ALIGNMENT
from t2t_phrase.text.alignments.pharaoh import read_links, write_links
from t2t_phrase.text.annotations.alignment import Alignment
from t2t_phrase.text.annotations.base import Sentence

SIZES = {"train": 30, "dev": 4}


class Aligned(LocalProblem):
    languages = ("en", "de")
    vocab_size = 400
    num_shards = 2
    optional_splits = ("test",)


class Drawn(GrammarProblem):
    languages = ("en", "de")
    vocab_size = 400
    num_shards = 2
    sizes = {**SIZES, "test": 2}  # noqa: RUF012


def links(pair):
    """Link the words in turn, the last one of the target with two words."""
    words = len(pair.source.split()), len(pair.target.split())
    diagonal = [(i % words[0], i) for i in range(words[1])]
    return write_links([*diagonal, (0, words[1] - 1)], possible=[(words[0] - 1, 0)])


@pytest.fixture(scope="module")
def corpus():
    return {split: list(grammar.generate(split, size)) for split, size in SIZES.items()}


def write(folder, corpus, *, alignments=True):
    folder.mkdir(exist_ok=True)
    for split, pairs in corpus.items():
        columns = {
            "en": [pair.source for pair in pairs],
            "de": [pair.target for pair in pairs],
            "de.align": [links(pair) for pair in pairs],
        }
        for name, lines in columns.items():
            if alignments or name != "de.align":
                (folder / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines))


def make(folder, raw, problem=None):
    messages = []
    generate(problem or Aligned(), str(folder), str(raw), log=messages.append)
    return messages


@pytest.fixture(scope="module")
def made(tmp_path_factory, corpus):
    """Return data to which alignments were added, and the messages of both times."""
    raw = tmp_path_factory.mktemp("raw") / "corpus"
    data = tmp_path_factory.mktemp("data")
    write(raw, corpus, alignments=False)
    make(data, raw)
    with pytest.raises(
        UserError,
        match=r"no 'alignment'.*files train\.de\.align and so on, made by t2t-phrase-align, beside",
    ):
        Aligned().require_features(str(data), (ALIGNMENT,))
    with pytest.raises(UserError, match=r"have no 'alignment_rev'.*train\.de\.align"):
        Aligned(reversed=True).require_features(str(data), (ALIGNMENT,))
    write(raw, corpus)
    return data, make(data, raw)


def expected(problem, data, pairs):
    """Return for each source its target's positions, from links `source-target` of the problem."""
    vocabularies = problem.vocabularies(str(data))
    found = {}
    for source, target, text in pairs:
        own, other = (
            Sentence(text, *encoder.encode_with_starts([text])[0])
            for encoder, text in ((vocabularies.target, target), (vocabularies.source, source))
        )
        numbers = Alignment().encode(own, text, other)
        found[source] = [*numbers, len(other.ids)]
    return found


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("split", ["train", "dev"])
def test_models_of_both_directions_read_their_alignment(made, corpus, split, reverse):
    data, problem = str(made[0]), Aligned(reversed=reverse)
    problem.require_features(data, (ALIGNMENT,))
    pairs = []
    for pair in corpus[split]:
        found = read_links(links(pair)).sure
        if reverse:
            text = write_links((j, i) for i, j in found)
            pairs.append((pair.target, pair.source, text))
        else:
            pairs.append((pair.source, pair.target, write_links(found)))
    reader = RecordReader(tuple(problem.record_files(data, split)), reverse, (ALIGNMENT,))
    encoder = problem.vocabularies(data).source
    found = {
        encoder.decode(e.inputs.tolist()): e.features["alignment"].tolist() for e in reader.read()
    }
    assert found == expected(problem, data, pairs)
    assert (
        problem.raw_features(data, "dev", (ALIGNMENT,))["alignment"]
        == [text for _, _, text in pairs]
        or split == "train"
    )


def test_alignments_that_come_later_are_added(made):
    data, messages = made
    line = "aligned: new side files found; adding alignment, alignment_rev to the records"
    assert messages[0] == line
    assert (data / "aligned-train.target.align").is_file()
    digests = {
        Aligned(reversed=reverse).data_digest(str(data), features)
        for reverse in (False, True)
        for features in ((), (ALIGNMENT,))
    }
    # The ids are the same for both directions; alignments are not.
    assert len(digests) == 3 and "" not in digests


@pytest.mark.parametrize(
    ("name", "line", "text", "fault"),
    [
        ("train.de.align", 3, "0-99", r"train\.de\.align:3: link 0-99: there is no target word 99"),
        ("train.de.align", 1, "50?0", r"train\.de\.align:1: link 50-0: there is no source word 50"),
        ("dev.de.align", 2, "0:1", r"dev\.de\.align:2: '0:1' is not a link"),
    ],
)
def test_misfits_are_named_once(tmp_path, corpus, name, line, text, fault):
    write(tmp_path / "raw", corpus)
    path = tmp_path / "raw" / name
    lines = path.read_text().split("\n")
    lines[line - 1] = text
    path.write_text("\n".join(lines))
    with pytest.raises(
        UserError, match=rf"lines that do not fit their sentences: \S*{fault}"
    ) as caught:
        make(tmp_path / "data", tmp_path / "raw")
    assert str(caught.value).count(f":{line}: ") == 1


def test_files_of_other_lengths_are_refused(tmp_path, corpus):
    write(tmp_path / "raw", corpus)
    with open(tmp_path / "raw/dev.de.align", "a") as file:
        file.write("\n")
    match = r"dev\.de\.align has 5 lines, but \S*dev\.de has 4 sentences; recreate it: t2t-phrase-a"
    with pytest.raises(UserError, match=match):
        make(tmp_path / "data", tmp_path / "raw")
    (tmp_path / "raw/dev.de.align").unlink()
    match = r"dev\.de\.align is missing, but .* all target files, .*\(t2t-phrase-align makes"
    with pytest.raises(UserError, match=match):
        make(tmp_path / "data", tmp_path / "raw")


def test_the_grammar_brings_its_alignments(tmp_path):
    data = str(tmp_path)
    make(data, "", Drawn())
    lines = (tmp_path / "drawn-dev.target.align").read_text().splitlines()
    pairs = list(grammar.generate("dev", SIZES["dev"]))
    assert (tmp_path / "drawn-dev.align").read_text().splitlines() == [p.alignment for p in pairs]
    problem = Drawn()
    texts = problem.raw_features(data, "dev", (ALIGNMENT,))["alignment"]
    assert texts == lines and lines != [pair.alignment for pair in pairs]
    reader = RecordReader(tuple(problem.record_files(data, "dev")), features=(ALIGNMENT,))
    found = [example.features["alignment"].tolist() for example in reader.read()]
    wanted = expected(
        problem, tmp_path, [(p.source, p.target, t) for p, t in zip(pairs, texts, strict=True)]
    )
    assert found == list(wanted.values())
