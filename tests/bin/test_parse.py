import pytest
from absl import app
from toy_run import call

from t2t_phrase.bin import parse
from t2t_phrase.config import UserError

TREES = {
    "The dog cannot swim.": "(S (NP (DT The) (NN dog)) (VP can not swim) (. .))",
    "": "",
    "It rains": "(S no such words)",
}


class Parser:
    def parse(self, sentences):
        return [TREES[sentence] for sentence in sentences]


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: Parser())
    path = tmp_path / "x.en"
    path.write_text("".join(f"{line}\n" for line in TREES))
    return path


def test_trees_and_phrases_of_a_text(text, tmp_path, capsys):
    call(parse, f"--input_file={text}", "--parser=stanza")
    trees = tmp_path / "x.en.trees"
    flat = "(ROOT (X It) (X rains))"
    assert trees.read_text().split("\n") == [TREES["The dog cannot swim."], "", flat, ""]
    said = capsys.readouterr().err
    assert f"{text}:3: word 1 of the tree is 'no', but the sentence has 'Itrains' there; " in said
    assert f"3 sentences: trees written to {trees}" in said

    call(parse, f"--input_file={text}", f"--trees_file={trees}", "--phrases")
    phrases = (tmp_path / "x.en.phrases").read_text()
    assert phrases == "The dog\tcannot swim\t.\n\nIt rains\n"
    call(parse, f"--input_file={text}", f"--trees_file={trees}")
    assert "3 trees, all of which match their sentences" in capsys.readouterr().err
    other = tmp_path / "other"
    call(parse, f"--input_file={text}", "--parser=corenlp", "--phrases", f"--output_file={other}")
    assert other.read_text() == phrases


def test_a_run_that_was_stopped_goes_on(text, tmp_path, monkeypatch, capsys):
    part = tmp_path / "x.en.trees.part"
    other = "(S (X The) (X dog) (X cannot) (X swim.))"
    part.write_text(f"{other}\n\n(S half a tr")
    call(parse, f"--input_file={text}", "--parser=stanza")
    assert "x.en.trees.part: 2 trees of an earlier run are kept" in capsys.readouterr().err
    trees = (tmp_path / "x.en.trees").read_text().split("\n")
    assert trees == [other, "", "(ROOT (X It) (X rains))", ""] and not part.exists()

    part.write_text("(S (X Another) (X text))\n")
    with pytest.raises(
        UserError, match=r"part:1: word 1 of the tree is 'Another'.*; delete \S*part"
    ):
        call(parse, f"--input_file={text}", "--parser=stanza")
    part.unlink()

    class Broken(Parser):
        def parse(self, sentences):
            if sentences == ["It rains"]:
                raise UserError("the server is gone")
            return super().parse(sentences)

    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: Broken())
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.BATCH", 2)
    with pytest.raises(UserError, match="the server is gone"):
        call(parse, f"--input_file={text}", "--parser=stanza")
    assert part.read_text() == f"{TREES['The dog cannot swim.']}\n\n"


def test_mistakes(text):
    for flags in ([], [f"--input_file={text}"], ["--parser=stanza"]):
        with pytest.raises(app.UsageError, match=r"is required|give either"):
            call(parse, *flags)
    with pytest.raises(UserError, match="is the input"):
        call(parse, f"--input_file={text}", "--parser=stanza", f"--output_file={text}")
    with pytest.raises(UserError, match=r"x\.en:1: the line does not begin with a bracket"):
        call(parse, f"--input_file={text}", f"--trees_file={text}")
