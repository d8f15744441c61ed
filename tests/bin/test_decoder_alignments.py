"""Alignments beside translations and scores, by the command."""

import io
import sys

import pytest
from interruption import interrupted_after
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import format_links
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.io import line_windows as windows
from t2t_phrase.runs import checkpoints
from t2t_phrase.text.alignments.pharaoh import check_range, read_links

OPTIONS = "beam_size=2,extra_length=8,write_alignments=true"
LINES = ["the house is old", "", "dogs run", "a cat sleeps in it while dogs run", "old  Ünknown"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(windows, "LINES", 2)
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in LINES))
    return [f"--decode_from_file={tmp_path}/in", f"--decode_to_file={tmp_path}/out"]


def test_each_line_has_its_links(toy, files, tmp_path):
    decode(toy, *files)
    aligned = (tmp_path / "out.align").read_text().split("\n")
    texts = (tmp_path / "out").read_text().split("\n")
    assert len(aligned) == len(texts) == len(LINES) + 1
    for source, target, line in zip(LINES, texts, aligned, strict=False):
        check_range(read_links(line).sure, len(source.split()), len(target.split()))
    assert aligned[1] == "" and all(aligned[i] for i in (0, 2, 3, 4))
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    assert aligned[:-1] == [format_links(found) for found in translator.translate(LINES)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.align"]


@pytest.mark.slow
def test_each_beam_has_its_links(toy, files, tmp_path):
    decode(toy, *files, options=f"{OPTIONS},return_beams=true,write_scores=true")
    texts, aligned = (
        (tmp_path / name).read_text().split("\n")[:-1] for name in ("out", "out.align")
    )
    for source, target, line in zip(LINES, texts, aligned, strict=True):
        hypotheses, links = target.split("\t")[::2], line.split("\t")
        assert len(links) == len(hypotheses)
        for own, text in zip(links, hypotheses, strict=True):
            check_range(read_links(own).sure, len(source.split()), len(text.split()))
    assert len(aligned[0].split("\t")) == 2


@pytest.mark.slow
def test_an_interrupted_run_ends_in_the_same_bytes(toy, files, tmp_path, monkeypatch):
    options = f"{OPTIONS},batch_size=8"
    decode(toy, *files, options=options)
    whole = [(tmp_path / name).read_bytes() for name in ("out", "out.align")]
    for name in ("out", "out.align"):
        (tmp_path / name).unlink()
    with interrupted_after(2, monkeypatch):
        decode(toy, *files, options=options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.part"]
    with pytest.raises(UserError, match=r"different settings \(alignment_heads: .* -> \[1\]\)"):
        decode(toy, *files, options=f"{options},alignment_heads=[1]")
    with pytest.raises(UserError, match="write_alignments: True -> "):
        decode(toy, *files, options=options.replace("true", "false"))
    decode(toy, *files, options=options)
    assert [(tmp_path / name).read_bytes() for name in ("out", "out.align")] == whole


@pytest.mark.slow
def test_given_translations_are_aligned(toy, tmp_path):
    pairs = [("the house", "dogs run"), ("a cat", ""), ("", "it is"), ("dogs run far", "here")]
    (tmp_path / "pairs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    files = [f"--score_file={tmp_path}/pairs", f"--decode_to_file={tmp_path}/scores"]
    decode(toy, *files, options="beam_size=4")
    scores = (tmp_path / "scores").read_bytes()
    decode(toy, *files)
    assert (tmp_path / "scores").read_bytes() == scores
    aligned = (tmp_path / "scores.align").read_text().split("\n")
    assert aligned[1] == aligned[2] == "" and aligned[0] and aligned[3]
    for (source, target), line in zip(pairs, aligned, strict=False):
        check_range(read_links(line).sure, len(source.split()), len(target.split()))


@pytest.mark.slow
def test_translations_have_the_same_links_when_they_are_given(toy, files, tmp_path):
    options = "beam_size=1,extra_length=3,write_alignments=true"
    decode(toy, *files, options=options)
    texts = (tmp_path / "out").read_text().split("\n")[:-1]
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(options))
    same = [
        number
        for number, (text, (found,)) in enumerate(
            zip(texts, translator.translate(LINES), strict=True)
        )
        # An output need not be spelt as the vocabulary spells its text.
        if text and found.tokens == len(toy.encoder.encode(text)) + 1
    ]
    pairs = [f"{LINES[number]}\t{texts[number]}\n" for number in same]
    (tmp_path / "pairs").write_text("".join(pairs))
    decode(
        toy,
        f"--score_file={tmp_path}/pairs",
        f"--decode_to_file={tmp_path}/scores",
        options=options,
    )
    aligned, again = (
        (tmp_path / name).read_text().split("\n") for name in ("out.align", "scores.align")
    )
    assert [aligned[number] for number in same] == again[:-1]


@pytest.mark.slow
def test_typed_lines_are_answered_with_links(toy, monkeypatch, capsys):
    typed = "dogs run\nalignment_layers=[7]\nalignment_layers=[1]\ndogs run\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
    decode(toy, "--decode_interactive")
    first, refused, changed, again, _ = capsys.readouterr().out.split("\n")
    assert read_links(first.split("\t")[1]).sure
    assert "error: alignment_layers=[7]: there is no 7; the model has 1 layers" in refused
    assert changed == "changed: alignment_layers=[1]" and again == first


def test_mistakes_are_refused(toy, files, tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"alignment_heads=\[3\]: there is no 3"):
        decode(toy, *files, options=f"{OPTIONS},alignment_heads=[3]")
    monkeypatch.setattr(checkpoints, "restore", lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(UserError, match="standard output is not a regular file; give --decode_to"):
        decode(toy)
    with pytest.raises(UserError, match="/dev/null is not a regular file"):
        decode(toy, files[0], "--decode_to_file=/dev/null")
    (tmp_path / "in.align").mkdir()
    with pytest.raises(UserError, match=r"in.align is a folder"):
        decode(toy, "--decode_from_file=/dev/null", f"--decode_to_file={tmp_path}/in")
    (tmp_path / "own.align").write_text("a\n")
    with pytest.raises(UserError, match=r"would overwrite the input .*/own\.align"):
        source = f"--decode_from_file={tmp_path}/own.align"
        decode(toy, source, f"--decode_to_file={tmp_path}/own")
    with pytest.raises(UserError, match=r"alignment_layers: must be distinct positive numbers"):
        decode(toy, *files, options=f"{OPTIONS},alignment_layers=[0]")
