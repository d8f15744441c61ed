"""The command that aligns parallel text, and the one that scores its output."""

import gzip
import os

import pytest
from absl import app
from toy_run import call

from t2t_phrase.bin import align
from t2t_phrase.bin import eval as eval_command
from t2t_phrase.config import UserError
from t2t_phrase.io.files import WriteError
from t2t_phrase.word_aligner import aligner

# "c" and "z" occur in one pair of the second text only, beside words that the first one explains.
TEXTS = {
    "train.en": ["a b", "b a", "a", "", "b"],
    "train.de": ["X y.", "y X!", "x", "z", "Y"],
    "dev.en": ["b c", "a"],
    "dev.de": ["z y", "x"],
}


@pytest.fixture
def folder(tmp_path):
    for name, lines in TEXTS.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def files(folder, *names):
    return [
        f"--{flag}={folder / f'{name}.{side}'}"
        for name in names
        for flag, side in (("source", "en"), ("target", "de"))
    ]


def test_files_are_aligned_together(folder, capsys):
    call(align, *files(folder, "train", "dev"), "--iterations=3")
    assert (folder / "train.de.align").read_text() == "0-0 1-1\n0-0 1-1\n0-0\n\n0-0\n"
    assert (folder / "dev.de.align").read_text() == "0-1 1-0\n0-0\n"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "forward: HMM, iteration 3 of 3: perplexity " in captured.err
    assert captured.err.endswith(
        f"no links: 1 sentence pair with an empty side\n"
        f"5 sentence pairs: 6 links written to {folder}/train.de.align\n"
        f"2 sentence pairs: 3 links written to {folder}/dev.de.align\n"
    )


def test_options_and_names(folder, capsys, monkeypatch):
    with gzip.open(folder / "train.de.gz", "wt") as file:
        file.write((folder / "train.de").read_text())
    (folder / "train.de").unlink()
    monkeypatch.setattr(aligner, "LONGEST", 1)
    names = [f"--source={folder}/train.en", f"--target={folder}/train.de.gz"]
    call(align, *names, "--symmetrization=union", "--nolowercase")
    assert (folder / "train.de.align").read_text() == "\n\n0-0\n\n0-0\n"
    assert "no links: 2 sentence pairs with a side over 1 words" in capsys.readouterr().err
    call(align, *names, f"--output_file={folder}/other")
    assert (folder / "other").read_bytes() == (folder / "train.de.align").read_bytes()


def test_segments_of_sgml_are_aligned(folder, capsys):
    for kind, side, words in (("src", "en", "a b"), ("ref", "de", "x y")):
        segments = f'<doc docid="d"><seg id="1">{words}</seg></doc>'
        text = f'<{kind}set setid="s" srclang="en">\n{segments}\n</{kind}set>\n'
        (folder / f"dev.{side}.sgm").write_text(text)
    names = [f"--source={folder}/dev.en.sgm", f"--target={folder}/dev.de.sgm"]
    call(align, *files(folder, "train"), *names)
    assert (folder / "dev.de.sgm.align").read_text() == "0-0 1-1\n"


def test_texts_that_do_not_belong_together(folder):
    names = [f"--source={folder}/train.en", f"--target={folder}/dev.de"]
    with pytest.raises(UserError, match=r"train\.en has 5 lines but \S*dev\.de has 2; judging by"):
        call(align, *names)
    (folder / "dev.de").write_bytes(b"x\n\xff\n")
    with pytest.raises(UserError, match=r"dev\.de:2: the line is not valid UTF-8"):
        call(align, *files(folder, "dev"))
    assert not list(folder.glob("*.align"))


def test_pipes_of_different_lengths_are_refused(folder):
    def pipe(text):
        reader, writer = os.pipe()
        os.write(writer, text)
        os.close(writer)
        return reader

    source, target = (f"/dev/fd/{pipe(text)}" for text in (b"a\nb\n", b"x\n"))
    with pytest.raises(UserError, match=f"{source} and {target} have different numbers of lines"):
        call(align, f"--source={source}", f"--target={target}", f"--output_file={folder}/out")


def test_equal_words_are_kept_once(folder):
    (folder / "dev.en").write_text("the house\nthe house\n")
    first, second = align.read(f"{folder}/dev.en", f"{folder}/dev.en")
    assert first == (["the", "house"], ["the", "house"])
    assert len({id(word) for side in (*first, *second) for word in side}) == 2


def test_wrong_usage(folder):
    with pytest.raises(app.UsageError, match="--source and --target are required"):
        call(align, f"--source={folder}/train.en")
    with pytest.raises(app.UsageError, match="2 x --source, 1 x --target, 0 x --output_file"):
        call(align, *files(folder, "train"), "--source=x")
    with pytest.raises(UserError, match=r"train\.de\.align is given for two outputs"):
        call(align, *files(folder, "train", "train"))
    with pytest.raises(UserError, match="would overwrite the input"):
        call(align, *files(folder, "dev"), f"--output_file={folder}/./dev.en")
    with pytest.raises(WriteError, match="cannot write /nosuch/x"):
        call(align, *files(folder, "dev"), "--output_file=/nosuch/x")
    with pytest.raises(UserError, match=r"x\.gz: output is not compressed"):
        call(align, *files(folder, "dev"), f"--output_file={folder}/x.gz")


def test_alignments_are_scored(folder, capsys):
    (folder / "own").write_text("0-0 1-1\n")
    (folder / "gold").write_text("0-0 1p1 2-2\n")
    own, gold = f"--alignments={folder}/own", f"--gold_alignments={folder}/gold"
    call(eval_command, own, gold)
    assert capsys.readouterr().out == (
        "AER = 25.00 (precision = 100.00, recall = 50.00; 2 links, 2 sure and 1 possible ones in 1 "
        "sentence)\n"
    )
    with pytest.raises(app.UsageError, match="--alignments and --gold_alignments are required tog"):
        call(eval_command, own)
    with pytest.raises(app.UsageError, match="--reference is for translations; score --alignments"):
        call(eval_command, own, gold, "--reference=x")
