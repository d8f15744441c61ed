"""Translations that must have certain words, must not have others, or begin as given."""

import math
import re

import pytest
import tensorflow as tf
from toy_run import WORDS, call, make_toy_run

import t2t_phrase
from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.terms import RequiredTerms
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry

OPTIONS = "beam_size=4,extra_length=20"
LINES = ["the house is old", "", "dogs run (dogs)", "a cat sleeps in it", "zebra"]
TERMS = """\
dogs\tno sun
cat\ttree
cat\trode
house\tzq
the house\tx y zq
is\t!cat
\t!dogs
"""
PREFIXES = ["the ho", "", "dogs ", "Überall a", "in"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def loaded(toy):
    return t2t_phrase.load(
        toy.output_dir, data_dir=str(toy.data_dir), t2t_usr_dir=str(toy.user_dir)
    )


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in LINES))
    (tmp_path / "terms").write_text(TERMS)
    (tmp_path / "prefixes").write_text("".join(f"{line}\n" for line in PREFIXES))
    return [f"--decode_from_file={tmp_path}/in", f"--decode_to_file={tmp_path}/out"]


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


def words_of(text):
    return re.findall(r"\w+", text)


@pytest.mark.slow
def test_every_entry_is_applied(toy, loaded, files, tmp_path, capsys):
    required = [f"--dictionary={tmp_path}/terms", "--dictionary_mode=require"]
    decode(toy, *files, *required)
    said = capsys.readouterr().err
    assert "7 dictionary entries: 4 occurrences in the sources, 4 of them applied" in said
    found = (tmp_path / "out").read_text().split("\n")[:-1]
    assert found[1] == ""
    assert " ".join(words_of(found[0])).count("x y zq") == 1
    assert found[2].count("no sun") == 2
    assert {"tree", "rode"} & {*words_of(found[3])}
    assert not any("dogs" in words_of(line) for line in found)
    # The same from Python, where each text has its own terms.
    pairs = [tuple(line.split("\t")) for line in TERMS.splitlines()]
    assert loaded.translate(LINES, OPTIONS, terms=[pairs] * len(LINES)) == found
    beams = loaded.nbest(
        LINES[:1], f"{OPTIONS},return_beams=true,write_alignments=true", terms=[pairs]
    )[0]
    assert len(beams) > 1 and all("x y zq" in beam.text for beam in beams)
    assert all(beam.entries == 1 and beam.links and not beam.missing for beam in beams)


@pytest.mark.slow
def test_an_ensemble_has_them_too(toy, loaded):
    both = t2t_phrase.load(
        [toy.output_dir, toy.output_dir / "best"],
        data_dir=str(toy.data_dir),
        t2t_usr_dir=str(toy.user_dir),
    )
    # What is given may have forbidden words, what follows may not.
    given = {"terms": [[("dogs", "sun"), ("", "!house"), ("", "!a")]], "prefixes": ["the house "]}
    (text,) = both.translate(["dogs run"], OPTIONS, **given)
    assert text.startswith("the house ") and "sun" in words_of(text)
    assert text.split().count("house") == 1
    assert text != loaded.translate(["dogs run"], OPTIONS, **given)[0]


@pytest.mark.slow
def test_words_that_are_likely_do_not_appear(loaded):
    plain = [words_of(text) for text in loaded.translate(LINES, OPTIONS)]
    terms = [[("", f"!{word}") for word in {*words} & {*WORDS}] for words in plain]
    assert sum(map(len, terms)) > 1
    found = loaded.translate(LINES, OPTIONS, terms=terms)
    for text, own in zip(found, terms, strict=True):
        forbidden = Phrases(Entry(target[1:], "") for _, target in own)
        assert not find_matches(text.split(), forbidden)


@pytest.mark.slow
def test_entries_without_room_are_named(toy, files, tmp_path, capsys):
    (tmp_path / "terms").write_text("house\tzq\nold\tzzzz zzzz zzzz zzzz zzzz\n")
    required = [f"--sentence_dictionary={tmp_path}/own", "--dictionary_mode=require"]
    (tmp_path / "own").write_text("1\thouse\tzq\n1\told\tzzzz zzzz zzzz zzzz zzzz\n")
    decode(toy, *files, *required, options="beam_size=2,max_length=9")
    said = capsys.readouterr().err
    assert re.search(r"line 1: the entry 'old' \(.*own:2\) is not in the translation", said)
    assert "2 occurrences in the sources, 1 of them applied" in said
    assert "zq" in words_of((tmp_path / "out").read_text().split("\n")[0])


@pytest.mark.slow
def test_translations_begin_with_their_prefixes(toy, loaded, files, tmp_path, capsys):
    del PREFIXES[1], files  # an empty line has an empty translation
    lines = [line for line in LINES if line]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "prefixes").write_text("".join(f"{line}\n" for line in PREFIXES))
    files = [f"--decode_from_file={tmp_path}/in", f"--decode_to_file={tmp_path}/out"]
    decode(toy, *files, f"--prefix_file={tmp_path}/prefixes")
    found = (tmp_path / "out").read_text().split("\n")[:-1]
    for prefix, text in zip(PREFIXES, found, strict=True):
        assert f"{text} ".startswith(prefix)
    assert loaded.translate(lines, OPTIONS, prefixes=PREFIXES) == found
    guided = Translator(
        toy.model,
        toy.vocabularies,
        DecodeHParams().override(OPTIONS),
        dictionary=Dictionary([Entry(word, "zq") for word in [*WORDS, "zebra"]], toy.encoder),
    )
    for prefix, (best, *_) in zip(
        PREFIXES, guided.translate(lines, prefixes=PREFIXES), strict=True
    ):
        assert f"{best.text} ".startswith(prefix)
        assert best.entries and "zq" in best.text[len(prefix) :]
    terms = [[("dogs", "sun"), ("cat", "tree"), ("house", "zq")]] * len(lines)
    for options in ("beam_size=1", "sampling_temp=1.0"):
        for hypotheses in loaded.nbest(lines, options, prefixes=PREFIXES):
            assert math.isfinite(hypotheses[0].score)
    together = loaded.nbest(lines, OPTIONS, prefixes=PREFIXES, terms=terms)
    for prefix, (best, *_) in zip(PREFIXES, together, strict=True):
        assert f"{best.text} ".startswith(prefix) and not best.missing


def test_a_prefix_that_just_fits_is_complete(toy, loaded):
    """Spelt by the letter, which takes more tokens, it would be cut."""
    prefix = "sleepssleeps"
    longest = len(toy.encoder.encode(prefix)) + 1
    options = f"beam_size=4,max_length={longest},return_beams=true"
    (found,) = loaded.nbest(["dogs run"], options, prefixes=[prefix])
    assert len(found) > 1 and all(each.text.startswith(prefix) for each in found)


def test_mistakes_are_named(toy, loaded, files, tmp_path):
    terms, prefixes = tmp_path / "terms", tmp_path / "prefixes"
    required = [f"--dictionary={terms}", "--dictionary_mode=require"]
    with pytest.raises(UserError, match=r"beam_size=1: required terms .* need"):
        decode(toy, *files, *required, options="beam_size=1")
    with pytest.raises(UserError, match=r"num_groups=2: .* cannot be used with groups"):
        decode(toy, *files, *required, options="beam_size=4,num_groups=2,diversity_strength=1")
    with pytest.raises(UserError, match=r"--dictionary_mode=require: there are no entries"):
        decode(toy, *files, "--dictionary_mode=require")
    terms.write_text("cat\ttree\ncat\trode\n")
    with pytest.raises(
        UserError, match=r"terms:2: 'cat' is translated as 'rode' here .* =?.*require"
    ):
        decode(toy, *files, f"--dictionary={terms}")
    terms.write_text("cat\told tree\n\t!tree\n")
    with pytest.raises(UserError, match=r"terms:1 requires 'old tree', and .*terms:2 forb"):
        decode(toy, *files, *required)
    both = RequiredTerms([Entry("cat", "!tree", "all:1")], loaded.vocabularies.target)
    with pytest.raises(UserError, match=r"own:3 requires 'old tree', and all:1 forbids 'tree'"):
        both.check([Entry("cat", "old tree", "own:3")])
    both = RequiredTerms([Entry("cat", "old tree", "all:1")], loaded.vocabularies.target)
    with pytest.raises(UserError, match=r"all:1 requires 'old tree', and own:3 forbids 'tree'"):
        both.check([Entry("cat", "!tree", "own:3")])
    given = f"--prefix_file={prefixes}"
    with pytest.raises(UserError, match=r"prefixes:2: the sentence has no words"):
        prefixes.write_text("a\nb\n\n\n\n")
        decode(toy, *files, given)
    with pytest.raises(UserError, match=r"prefixes has 2 lines, but .*in has 5 sentences"):
        prefixes.write_text("a\n\n")
        decode(toy, *files, given)
    with pytest.raises(UserError, match=r"prefixes:1: the prefix needs 60 tokens, .* at most 5"):
        prefixes.write_text(" ".join(["zz"] * 20) + "\n\n\n\n\n")
        decode(toy, *files, given, options="max_length=6")
    # After a space, there must be room for another word.
    room = "beam_size=4,max_length=6"
    assert loaded.translate(LINES[:1], room, prefixes=["zz z"])[0].startswith("zz z")
    with pytest.raises(UserError, match=r"prefix:1: the prefix needs 6 tokens, but .* at most 5"):
        loaded.translate(LINES[:1], room, prefixes=["zz z "])
    with pytest.raises(UserError, match=r"prefixes: 1 for 2 sentences"):
        loaded.translate(LINES[:2], prefixes=["a"])
    with pytest.raises(UserError, match=r"terms: 1 lists for 2 texts"):
        loaded.translate(LINES[:2], terms=[[("a", "b")]])
    with pytest.raises(UserError, match=r"terms of text 1:1: the target is empty"):
        loaded.translate(LINES[:1], terms=[[("a", " ")]])
    assert tf.executing_eagerly()


@pytest.mark.slow
def test_words_begin_as_given_in_a_vocabulary_of_words(tmp_path):
    toy = make_toy_run(tmp_path, words=10)
    loaded = t2t_phrase.load(
        toy.output_dir, data_dir=str(toy.data_dir), t2t_usr_dir=str(toy.user_dir)
    )
    known = [word for word in WORDS if loaded.vocabularies.target.encode(word) != [2]]
    prefix = f"{known[0]} {known[1][:1]}"
    text = loaded.translate(LINES[:1], OPTIONS, prefixes=[prefix])[0]
    assert text.startswith(prefix)
    # What is given may repeat itself.
    prefix = f"{known[0]} {known[1]} {known[0]} {known[1]}"
    text = loaded.translate(LINES[:1], f"{OPTIONS},no_repeat_ngram_size=1", prefixes=[prefix])[0]
    assert text.startswith(prefix)
    for bad in ("Zebra a", f"{known[0]} Zeb"):
        with pytest.raises(UserError, match=r"prefix:1: the model cannot write"):
            loaded.translate(LINES[:1], prefixes=[bad])
