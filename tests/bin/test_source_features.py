"""Commands of a model that reads phrases."""

import io

import pytest
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.feature_files import (
    FeatureReader,
    ParserChoice,
    annotator,
    file_beside,
)
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.features import ALIGNMENT, LEVELS, PHRASES
from t2t_phrase.io.line_windows import Window
from t2t_phrase.text.annotations.phrases import Phrases
from t2t_phrase.text.trees.parsers import flat_tree

LINES = ["the house is old", "", "a cat sleeps in it while dogs run"]
TREES = [
    "(S (NP the house) (VP is old))",
    "",
    "(S (A a cat sleeps in) (B it while) (C dogs run))",
]
FLAT = ["(S the house is old)", "", "(S a cat sleeps in it while dogs run)"]
OPTIONS = "beam_size=2,extra_length=6"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return make_toy_run(folder, hparams_set="phrase_representation_parse_demo")


def phrases_of(lines, trees):
    """Return the feature that the model reads."""
    return {"phrases": [Phrases().read(*pair) for pair in zip(lines, trees, strict=True)]}


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def decode(toy, *arguments):
    call(decoder, *toy.flags, f"--decode_hparams={OPTIONS}", *arguments)


class Parser:
    def parse(self, sentences):
        return [dict(zip(LINES, TREES, strict=True))[sentence] for sentence in sentences]


class WrongParser:
    """Parses other sentences, and notes those that it was given."""

    def __init__(self):
        self.asked = []

    def parse(self, sentences):
        self.asked += sentences
        return ["(S other)"] * len(sentences)


def test_trees_beside_the_file_are_read(toy, tmp_path):
    source, target = write(tmp_path / "in.en", LINES), tmp_path / "out.de"
    write(tmp_path / "in.en.trees", TREES)
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={target}")
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    found = translator.translate(LINES, features=phrases_of(LINES, TREES))
    assert target.read_text().split("\n") == [*[beams[0].text for beams in found], ""]
    assert found[1][0].text == "" != found[0][0].text
    with pytest.raises(UserError, match="reads the source feature 'phrases': give its text"):
        translator.translate(LINES)


@pytest.mark.slow
def test_features_are_read_window_by_window(toy, tmp_path, monkeypatch):
    source, target = write(tmp_path / "in.en", LINES), tmp_path / "out.de"
    trees = write(tmp_path / "in.en.trees", TREES)
    files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
    decode(toy, *files)
    whole = target.read_bytes()
    monkeypatch.setattr("t2t_phrase.io.line_windows.LINES", 2)
    decode(toy, *files)
    assert target.read_bytes() == whole
    write(trees, [*TREES[:2], "(S other words)"])
    with pytest.raises(UserError, match=r"in\.en\.trees:3: word 1 of the tree is 'other'"):
        decode(toy, *files)
    # The first window is done, and its trees must not change.
    write(trees, [FLAT[0], *TREES[1:]])
    with pytest.raises(UserError, match=r"different input \(it differs in lines 1 to 2\)"):
        decode(toy, *files)
    write(trees, TREES)
    target.unlink()
    decode(toy, *files)
    assert target.read_bytes() == whole


@pytest.mark.slow
def test_scores_are_those_of_the_trees_given(toy, tmp_path, monkeypatch):
    pairs = [(line, "a house") for line in LINES]
    scorer = Scorer(toy.model, toy.vocabularies)
    expected = [scorer.score(pairs, features=phrases_of(LINES, trees)) for trees in (TREES, FLAT)]
    assert expected[0][2] != pytest.approx(expected[1][2], abs=1e-4)
    assert expected[0][1] == pytest.approx(expected[1][1], abs=1e-5)
    with pytest.raises(UserError, match="reads the source feature 'phrases': give its text"):
        scorer.score(pairs)

    source = write(tmp_path / "pairs.tsv", ["\t".join(pair) for pair in pairs])
    target = tmp_path / "scores"
    common = (f"--score_file={source}", f"--decode_to_file={target}")
    with pytest.raises(
        UserError, match=r"create \S*pairs.tsv.trees, or .*of a text with one sentence"
    ):
        decode(toy, *common)
    decode(toy, *common, f"--feature_files=phrases={write(tmp_path / 'flat', FLAT)}")
    scores = [-float(line) for line in target.read_text().split()]
    assert scores == pytest.approx(expected[1], abs=1e-4)
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: Parser())
    decode(toy, *common, "--parser=stanza")
    scores = [-float(line) for line in target.read_text().split()]
    assert scores == pytest.approx(expected[0], abs=1e-4)


@pytest.mark.slow
def test_what_is_typed_is_parsed(toy, monkeypatch, capsys):
    with pytest.raises(UserError, match="what is typed, give --parser=stanza or --parser=corenlp"):
        decode(toy, "--decode_interactive")
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: Parser())
    typed = io.BytesIO(f"{LINES[0]}\n\nq\n".encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(typed))
    decode(toy, "--decode_interactive", "--parser=corenlp")
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    found = translator.translate(LINES[:1], features=phrases_of(LINES[:1], TREES[:1]))
    assert capsys.readouterr().out.split("\n")[:2] == [found[0][0].text, ""]


def test_sentences_without_a_parse_are_named(monkeypatch, capsys):
    parser, opened = WrongParser(), []
    monkeypatch.setattr(
        "t2t_phrase.text.trees.parsers.open_parser", lambda name, **_: opened.append(name) or parser
    )
    choice = ParserChoice("stanza")
    reader = FeatureReader([PHRASES, LEVELS], {"source": "in.en"}, {}, choice)
    lines = [LINES[0], "", "it rains", *["dogs run"] * 12]
    found = reader.texts(Window(20, lines), {"source": lines}, done={2})
    assert found["phrases"] == [
        Phrases().read(line, flat_tree(line) if line else "") for line in lines
    ]
    # One parser reads each sentence once, and none that an earlier run has done.
    assert opened == ["stanza"] and parser.asked == [LINES[0], *["dogs run"] * 12]
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("sentence 21: word 1 of the tree is 'other', but the sentence has")
    assert said[0].endswith("; a flat tree is used instead") and said[1].startswith("sentence 24: ")
    assert len(said) == 11 and said[10] == "further sentences with flat trees are not listed"
    annotator([PHRASES], choice)(["it rains"])
    said = capsys.readouterr().err
    assert said.startswith("word 1 of the tree is 'other', but") and said.count("flat tree") == 1


def test_a_parser_is_refused_by_a_model_that_reads_no_trees():
    choice, files = ParserChoice("stanza"), {"source": "in.en", "target": "in.de"}
    fault = "--parser=stanza: the model reads no trees; leave the flag out"
    with pytest.raises(UserError, match=fault):
        FeatureReader([ALIGNMENT], files, {"alignment": "links"}, choice)
    with pytest.raises(UserError, match=fault):
        annotator([], choice)


def test_a_parser_that_files_of_trees_replace_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: Parser())
    source, choice = write(tmp_path / "in.en", LINES), ParserChoice("stanza")
    trees = write(tmp_path / "in.en.trees", FLAT)
    FeatureReader([PHRASES, LEVELS], {"source": str(source)}, {}, choice)
    said = f"--parser=stanza: not used, since trees are read from {trees}\n"
    assert capsys.readouterr().err == said
    FeatureReader([PHRASES, LEVELS], {"source": "typed.en"}, {"levels": str(trees)}, choice)
    assert capsys.readouterr().err == ""


def test_files_of_features_that_the_model_does_not_read(toy, tmp_path):
    source = write(tmp_path / "in.en", LINES)
    with pytest.raises(UserError, match=r"--feature_files=tags=\.\.\.: the model reads no such"):
        decode(toy, f"--decode_from_file={source}", f"--feature_files=tags={source}")


def test_a_file_of_another_length(toy, tmp_path):
    source, trees = write(tmp_path / "in.en", LINES), write(tmp_path / "x.trees", TREES[:2])
    with pytest.raises(UserError, match=r"x\.trees has 2 lines, but .*in\.en has 3 sentences"):
        decode(toy, f"--decode_from_file={source}", f"--feature_files=phrases={trees}")


def test_files_of_trees_are_found_by_name(tmp_path):
    assert file_beside("~draft.en", PHRASES) is None
    source = tmp_path / "toy-test.en"
    assert file_beside(None, PHRASES) is file_beside(str(source), PHRASES) is None
    kept = write(tmp_path / "toy-test.trees", TREES)
    assert file_beside(str(source), PHRASES) == str(kept)
    beside = write(tmp_path / "toy-test.en.trees", TREES)
    assert file_beside(f"{source}.gz", PHRASES) == file_beside(str(source), PHRASES) == str(beside)
    # Alignments of the target are not those that are counted in tokens of the grammar.
    write(tmp_path / "toy-test.align", ["0-0"])
    assert file_beside(str(tmp_path / "toy-test.de"), ALIGNMENT) is None
    kept = write(tmp_path / "toy-test.target.align", ["0-0"])
    assert file_beside(str(tmp_path / "toy-test.de"), ALIGNMENT) == str(kept)
