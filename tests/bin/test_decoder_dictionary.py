"""Translations that a dictionary guides, by the command."""

import io
import re
import sys

import pytest
from absl import app
from interruption import interrupted_after
from toy_run import WORDS, call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.runs import checkpoints
from t2t_phrase.text.dictionaries.reader import Entry

OPTIONS = "beam_size=2,extra_length=8"
LINES = ["the house is old", "", "dogs run", "a cat sleeps in it", "zebra (dogs) run"]
# Whatever a source of these words is aligned with, something is forced.
EVERY = [Entry(word, f"{word} Ünd x") for word in WORDS]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in LINES))
    return [f"--decode_from_file={tmp_path}/in", f"--decode_to_file={tmp_path}/out"]


def write(path, entries, number=""):
    path.write_text("".join(f"{number}{source}\t{target}\n" for source, target, _ in entries))


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


def test_entries_are_applied_and_counted(toy, files, tmp_path, capsys):
    write(tmp_path / "dict", EVERY)
    decode(toy, *files, f"--dictionary={tmp_path}/dict")
    said = re.search(
        r"(\d+) dictionary entr\S+: (\d+) occurrences? in the sources, (\d+) of them applied",
        capsys.readouterr().err,
    )
    texts = (tmp_path / "out").read_text().split("\n")[:-1]
    hparams = DecodeHParams().override(OPTIONS)
    dictionary = Dictionary(EVERY, toy.encoder)
    translator = Translator(toy.model, toy.vocabularies, hparams, dictionary=dictionary)
    found = [best for best, *_ in translator.translate(LINES)]
    assert texts == [hypothesis.text for hypothesis in found]
    assert all(hypothesis.entries for line, hypothesis in zip(LINES, found, strict=True) if line)
    assert sum("Ünd x" in text for text in texts) == len(LINES) - 1
    applied = sum(hypothesis.entries for hypothesis in found)
    assert said and [*map(int, said.groups())] == [len(EVERY), 13, applied]
    # Each occurrence is used once.
    assert all(
        hypothesis.entries <= len(line.split())
        for line, hypothesis in zip(LINES, found, strict=True)
    )


@pytest.mark.slow
def test_a_line_alone_is_translated_as_in_the_file(toy):
    dictionary = Dictionary(EVERY, toy.encoder)
    hparams = DecodeHParams().override(f"{OPTIONS},return_beams=true,write_alignments=true")
    translator = Translator(toy.model, toy.vocabularies, hparams, dictionary=dictionary)
    together = translator.translate(LINES)
    for line, expected in zip(LINES, together, strict=True):
        (alone,) = translator.translate([line])
        assert [h.text for h in alone] == [h.text for h in expected]
        assert [(h.links, h.entries) for h in alone] == [(h.links, h.entries) for h in expected]


@pytest.mark.slow
def test_sentences_have_dictionaries_of_their_own(toy, files, tmp_path, capsys):
    decode(toy, *files)
    plain = (tmp_path / "out").read_text().split("\n")
    write(tmp_path / "own", [Entry(word, "Ünd") for word in WORDS], "3\t")
    decode(toy, *files, f"--sentence_dictionary={tmp_path}/own")
    guided = (tmp_path / "out").read_text().split("\n")
    assert "Ünd" in guided[2] and "Ünd" not in plain[2]
    assert [*guided[:2], *guided[3:]] == [*plain[:2], *plain[3:]]
    assert "entries: 2 occurrences in the sources" in capsys.readouterr().err
    # It comes before the dictionary for all sentences.
    write(tmp_path / "dict", EVERY)
    both = [f"--dictionary={tmp_path}/dict", f"--sentence_dictionary={tmp_path}/own"]
    decode(toy, *files, *both)
    again = (tmp_path / "out").read_text().split("\n")
    assert again[2] == guided[2] and "Ünd x" in again[0]


@pytest.mark.slow
def test_another_dictionary_does_not_continue_the_work(toy, files, tmp_path, monkeypatch):
    write(tmp_path / "dict", EVERY)
    flag = f"--dictionary={tmp_path}/dict"
    options = f"{OPTIONS},batch_size=8"
    decode(toy, *files, flag, options=options)
    whole = (tmp_path / "out").read_bytes()
    with interrupted_after(2, monkeypatch):
        decode(toy, *files, flag, options=options)
    write(tmp_path / "dict", EVERY[1:])
    with pytest.raises(UserError, match=r"different settings \(dictionary: \w+ -> \w+\)"):
        decode(toy, *files, flag, options=options)
    write(tmp_path / "dict", EVERY)
    (tmp_path / "out").unlink()
    decode(toy, *files, flag, options=options)
    assert (tmp_path / "out").read_bytes() == whole


@pytest.mark.slow
def test_typed_lines_are_guided(toy, tmp_path, monkeypatch, capsys):
    write(tmp_path / "dict", EVERY)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"dogs run\n")))
    decode(toy, "--decode_interactive", f"--dictionary={tmp_path}/dict")
    assert "Ünd x" in capsys.readouterr().out


def test_mistakes_are_refused_before_the_model_is_loaded(toy, files, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "restore", lambda *_, **__: pytest.fail("loaded"))
    path = tmp_path / "dict"
    for content, message in [
        ("a\tb\nc\n", r"dict:2: 0 tabs; each line must be source<TAB>target"),
        ("a\tb\n\tc\n", r"dict:2: the source is empty"),
        ("\ufeffa\tb\r\na\tc\r\n", r"dict:2: 'a' is translated as 'c' here and as 'b' in .*dict:1"),
    ]:
        path.write_text(content)
        with pytest.raises(UserError, match=message):
            decode(toy, *files, f"--dictionary={path}")
    path.write_bytes(b"a\tb\n\xff\tc\n")
    with pytest.raises(UserError, match=r"dict:2: the line is not valid UTF-8"):
        decode(toy, *files, f"--dictionary={path}")
    path.write_text("1\ta\tb\n6\ta\tb\n")
    with pytest.raises(UserError, match=r"dict:2: there is no sentence 6; .*in has 5"):
        decode(toy, *files, f"--sentence_dictionary={path}")
    with pytest.raises(UserError, match=r"would overwrite the input .*dict"):
        decode(toy, files[0], f"--decode_to_file={path}", f"--dictionary={path}")
    with pytest.raises(UserError, match=r"cannot read .*missing: No such file"):
        decode(toy, *files, f"--dictionary={tmp_path}/missing")
    with pytest.raises(UserError, match="--dictionary=/dev/null is not a regular file"):
        decode(toy, *files, "--dictionary=/dev/null")
    with pytest.raises(app.UsageError, match="--dictionary cannot be used with --score_file"):
        decode(toy, f"--score_file={path}", f"--dictionary={path}")
    with pytest.raises(app.UsageError, match="--sentence_dictionary cannot be used with --decode_"):
        decode(toy, "--decode_interactive", f"--sentence_dictionary={path}")
    with pytest.raises(UserError, match=r"alignment_layers=\[1\]: is only used with write_align"):
        decode(toy, *files, options=f"{OPTIONS},alignment_layers=[1]")
