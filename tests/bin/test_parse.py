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


@pytest.mark.parametrize("phrases", [(), ("--phrases",)], ids=["trees", "phrases"])
def test_a_run_that_was_stopped_goes_on(text, tmp_path, monkeypatch, capsys, phrases):
    class Broken(Parser):
        broken = True

        def parse(self, sentences):
            asked.append(sentences)
            if sentences == ["It rains"] and self.broken:
                raise UserError("the server is gone")
            return super().parse(sentences)

    asked, parser = [], Broken()
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.open_parser", lambda *_, **__: parser)
    monkeypatch.setattr("t2t_phrase.text.trees.parsers.BATCH", 2)
    flags = [f"--input_file={text}", "--parser=stanza", *phrases]
    target = tmp_path / ("x.en.phrases" if phrases else "x.en.trees")
    part = target.with_name(f"{target.name}.part")
    with pytest.raises(UserError, match="the server is gone"):
        call(parse, *flags)
    assert f"kept 2 lines in {part}" in capsys.readouterr().err
    kept = part.read_bytes()
    # Killed while it opens the parser.
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("t2t_phrase.text.trees.parsers.open_parser", interrupted)
        call(parse, *flags)
    assert part.read_bytes() == kept
    with pytest.raises(UserError, match=r"different settings \(language: en -> de\)"):
        call(parse, *flags, "--language=de")
    parser.broken = False
    asked.clear()
    call(parse, *flags)
    assert asked == [["It rains"]]
    first, rest = TREES["The dog cannot swim."], "(ROOT (X It) (X rains))"
    if phrases:
        first, rest = "The dog\tcannot swim\t.", "It rains"
    assert target.read_text() == f"{first}\n\n{rest}\n" and not part.exists()


def interrupted(*args, **kwargs):
    raise KeyboardInterrupt


def test_mistakes(text):
    for flags in ([], [f"--input_file={text}"], ["--parser=stanza"]):
        with pytest.raises(app.UsageError, match=r"is required|give either"):
            call(parse, *flags)
    with pytest.raises(app.UsageError, match=r"add --phrases, or leave out --output_file"):
        call(parse, f"--input_file={text}", f"--trees_file={text}", "--output_file=x")
    for flags in (
        ["--parser=corenlp", "--language=de"],
        [f"--trees_file={text}", "--language=de"],
        ["--parser=stanza", "--corenlp_url=http://x"],
    ):
        with pytest.raises(app.UsageError, match=r"is only used with --parser=(stanza|corenlp)$"):
            call(parse, f"--input_file={text}", *flags)
    with pytest.raises(UserError, match="would overwrite the input"):
        call(parse, f"--input_file={text}", "--parser=stanza", f"--output_file={text}")
    with pytest.raises(UserError, match=r"x\.en:1: the line does not begin with a bracket"):
        call(parse, f"--input_file={text}", f"--trees_file={text}")
