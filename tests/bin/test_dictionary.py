"""The command that makes dictionaries of references."""

import pytest
from absl import app
from toy_run import call

from t2t_phrase.bin import dictionary
from t2t_phrase.config import UserError
from t2t_phrase.text.dictionaries.reader import read_sentence_dictionaries

TEXTS = {
    "source": ["the cat sleeps", "", "a dog , a man"],
    "reference": ["die Katze schläft", "", "ein Hund , ein Mann"],
    "alignments": ["0-0 1-1 2-2", "", "0-0 1-1 2-2 3-3 4-4"],
    "translation": ["die Katze ruht", "x", "der Hund"],
}


@pytest.fixture
def flags(tmp_path):
    for name, lines in TEXTS.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return {name: f"{tmp_path}/{name}" for name in (*TEXTS, "output_file")}


def run(flags, *more):
    call(dictionary, *(f"--{name}={path}" for name, path in flags.items()), *more)


def test_words_that_the_translation_lacks_are_written(flags, tmp_path, capsys):
    run(flags)
    lines = (tmp_path / "output_file").read_text().split("\n")
    assert lines == ["1\tsleeps\tschläft", "3\tman\tMann", ""]
    assert len(read_sentence_dictionaries(lines, "d")) == 2
    said = capsys.readouterr().err
    assert "2 entries for 2 of 3 sentences, 25.0% of the words of the reference" in said


def test_other_stop_words_of_either_side(flags, tmp_path):
    (tmp_path / "stop").write_text("man # a comment\nSCHLÄFT\n")
    run(flags, f"--stop_words={tmp_path}/stop", "--max_entries=1")
    assert (tmp_path / "output_file").read_text() == "1\tsleeps\tschläft\n"
    run(flags, f"--stop_words={tmp_path}/stop", "--stop_words_of=target")
    assert (tmp_path / "output_file").read_text() == "3\tman\tMann\n"


def test_mistakes_are_refused(flags, tmp_path):
    with pytest.raises(app.UsageError, match="--alignments is required"):
        run({**flags, "alignments": ""})
    with pytest.raises(app.UsageError, match="--stop_words= names no file"):
        run(flags, "--stop_words=")
    with pytest.raises(UserError, match=r"would overwrite the input .*/source"):
        run({**flags, "output_file": flags["source"]})
    with pytest.raises(UserError, match=r"x\.gz: output is not compressed"):
        run({**flags, "output_file": f"{tmp_path}/x.gz"})
    (tmp_path / "alignments").write_text("0-0\n\n5-0\n")
    with pytest.raises(UserError, match=r"alignments:3: link 5-0: there is no source word 5"):
        run(flags)
    (tmp_path / "alignments").write_text("0-0\n\n")
    with pytest.raises(UserError, match=r"alignments has 2 lines and .*source has 3"):
        run(flags)
    with pytest.raises(UserError, match="cannot read /nosuch"):
        run({**flags, "translation": "/nosuch"})
    assert not (tmp_path / "output_file").exists()


def test_words_of_the_corpus_are_written_as_a_dictionary(flags, tmp_path, capsys):
    del flags["translation"]
    run(flags, "--words")
    assert (tmp_path / "output_file").read_text().split("\n") == [
        ",\t,",
        "a\tein",
        "cat\tKatze",
        "dog\tHund",
        "man\tMann",
        "sleeps\tschläft",
        "the\tdie",
        "",
    ]
    assert "7 words with translations" in capsys.readouterr().err
    run(flags, "--words", "--least=2")
    assert (tmp_path / "output_file").read_text() == "a\tein\n"
    with pytest.raises(app.UsageError, match="--least is only used with --words"):
        run({**flags, "translation": flags["source"]}, "--least=2")
    with pytest.raises(app.UsageError, match="--translation cannot be used with --words"):
        run({**flags, "translation": flags["source"]}, "--words")
    (tmp_path / "alignments").write_text("0-0\n\n")
    with pytest.raises(UserError, match=r"alignments has no line 3, unlike the others"):
        run(flags, "--words")
