"""Unknown words of translations are replaced, by the command."""

import re

import pytest
from absl import app
from interruption import interrupted_after
from toy_run import WORDS, call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.io import line_windows as windows
from t2t_phrase.text.dictionaries.unknown_words import UNKNOWN, replace_unknown

OPTIONS = "beam_size=2,extra_length=8,replace_unknown=true"
LINES = ["zebras run", "", "dogs  run", "Anna sleeps in the zoo", "old Ünknown"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A model whose vocabulary lacks most words, so that it writes <unk> often."""
    return make_toy_run(tmp_path_factory.mktemp("toy"), words=6)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in LINES))
    return [f"--decode_from_file={tmp_path}/in", f"--decode_to_file={tmp_path}/out"]


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


def expected(toy, dictionary):
    """Translate, align and replace one after the other."""
    options = OPTIONS.replace("replace_unknown", "write_alignments")
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(options))
    found = []
    for line, (best, *_) in zip(LINES, translator.translate(LINES), strict=True):
        source, words = line.split(), best.text.split()
        aligned = dict((target, position) for position, target in best.links)
        positions = [aligned.get(number) for number in range(len(words))]
        found.append(replace_unknown(words, positions, source, dictionary))
    return found


@pytest.mark.parametrize(
    "dictionary",
    [
        pytest.param(None, marks=pytest.mark.slow, id="none"),
        pytest.param({word: f"Ü{word}" for word in " ".join(LINES).split()}, id="of every word"),
    ],
)
def test_unknown_words_are_replaced_and_counted(toy, files, tmp_path, capsys, dictionary):
    if dictionary:
        lines = "".join(f"{word}\t{other}\n" for word, other in dictionary.items())
        (tmp_path / "words").write_text(lines)
        files = [*files, f"--unknown_dictionary={tmp_path}/words"]
    decode(toy, *files)
    replaced = expected(toy, dictionary)
    assert (tmp_path / "out").read_text().split("\n")[:-1] == [" ".join(r.words) for r in replaced]
    counts = [sum(part) for part in zip(*(r.counts for r in replaced), strict=True)]
    said = re.search(
        r"(\d+) unknown words: (\d+) translated by the dictionary, (\d+) copied from the source, "
        r"(\d+) left",
        capsys.readouterr().err,
    )
    assert said and [*map(int, said.groups())] == [sum(counts), *counts]
    assert counts[0 if dictionary else 1]


@pytest.mark.slow
def test_links_count_the_words_as_before(toy, files, tmp_path):
    decode(toy, *files, options=OPTIONS.replace("replace_unknown", "write_alignments"))
    plain, links = ((tmp_path / name).read_text() for name in ("out", "out.align"))
    assert UNKNOWN in plain
    for name in ("out", "out.align"):
        (tmp_path / name).unlink()
    decode(toy, *files, options=f"{OPTIONS},write_alignments=true")
    assert (tmp_path / "out.align").read_text() == links
    assert [len(line.split()) for line in (tmp_path / "out").read_text().split("\n")] == [
        len(line.split()) for line in plain.split("\n")
    ]


@pytest.mark.slow
def test_an_interrupted_run_keeps_its_counts(toy, files, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(windows, "LINES", 2)
    decode(toy, *files)
    whole, said = (tmp_path / "out").read_bytes(), capsys.readouterr().err.split("\n")
    (tmp_path / "out").unlink()
    with interrupted_after(1, monkeypatch):
        decode(toy, *files)
    with pytest.raises(UserError, match="replace_unknown: True -> "):
        decode(toy, *files, options=OPTIONS.replace("=true", "=false"))
    (tmp_path / "words").write_text("run\trennen\n")
    with pytest.raises(UserError, match="unknown_dictionary"):
        decode(toy, *files, f"--unknown_dictionary={tmp_path}/words")
    capsys.readouterr()
    decode(toy, *files)
    assert (tmp_path / "out").read_bytes() == whole
    counted = [line for line in said if "unknown words:" in line]
    assert counted and counted[0] in capsys.readouterr().err


def test_mistakes_are_refused(toy, files, tmp_path, tmp_path_factory):
    (tmp_path / "words").write_text("run\tschnell rennen\n")
    given = f"--unknown_dictionary={tmp_path}/words"
    with pytest.raises(UserError, match=r"words:1: the target 'schnell rennen' has several words"):
        decode(toy, *files, given)
    with pytest.raises(UserError, match="is only used with --decode_hparams=replace_unknown=true"):
        decode(toy, *files, given, options="beam_size=2")
    with pytest.raises(UserError, match="replace_unknown=true: cannot be used with --score_file"):
        decode(toy, f"--score_file={tmp_path}/in")
    with pytest.raises(app.UsageError, match="--unknown_dictionary cannot be used with --score_f"):
        decode(toy, f"--score_file={tmp_path}/in", given)
    subwords = make_toy_run(tmp_path_factory.mktemp("subwords"))
    with pytest.raises(UserError, match="target vocabulary consists of subwords"):
        Translator(subwords.model, subwords.vocabularies, DecodeHParams(replace_unknown=True))


def test_every_word_of_the_corpus_is_known_or_not(toy):
    """The premise of this file."""
    assert 0 < sum(word in toy.encoder.words for word in set(WORDS)) < len(set(WORDS))
