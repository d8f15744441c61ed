"""A lexicon from t2t-phrase-align to t2t-phrase-decoder."""

import re

import pytest
from toy_run import WORDS, call, make_toy_run

from t2t_phrase.api.loading import load
from t2t_phrase.bin import align, decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.word_aligner.translation_table import count_translations, read_translations

LINES = ["the house is old", "", "Dogs run .", "a cat sleeps in it"]
OPTIONS = "beam_size=2,extra_length=4,shortlist_best=3,shortlist_frequent=4"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    """The file of a lexicon, and its lines."""
    folder = tmp_path_factory.mktemp("lexicon")
    pairs = [(WORDS[i : i + 4], [w.upper() for w in WORDS[i : i + 4]]) for i in range(12)]
    for side in (0, 1):
        # A pair that is too long has no links, and its words have no place in the lexicon.
        long = " ".join(["long"] * 201)
        text = "".join(" ".join(pair[side]) + "\n" for pair in pairs) + f"{long}\n"
        (folder / f"train.{side}").write_text(text)
    names = [f"--source={folder / 'train.0'}", f"--target={folder / 'train.1'}"]
    call(align, *names, f"--lexicon_file={folder / 'lexicon'}")
    lines = (folder / "lexicon").read_text().splitlines()
    links = [
        {tuple(map(int, link.split("-"))) for link in line.split()}
        for line in (folder / "train.1.align").read_text().splitlines()[:-1]
    ]
    expected = count_translations((s for s, _ in pairs), (t for _, t in pairs), links)
    assert [tuple(line.split("\t")[:2]) for line in lines] == [
        (entry.source, entry.target) for entry in expected
    ]
    return folder / "lexicon"


def decode(toy, tmp_path, *arguments, options=OPTIONS):
    source = tmp_path / "in"
    source.write_text("".join(f"{line}\n" for line in LINES))
    files = [f"--decode_from_file={source}", f"--decode_to_file={tmp_path / 'out'}"]
    call(decoder, *toy.flags, f"--decode_hparams={options}", *files, *arguments)
    return (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1]


def test_the_decoder_uses_what_the_aligner_wrote(toy, lexicon, tmp_path):
    """Its texts consist of the tokens that are proposed, as those of the Python interface."""
    found = decode(toy, tmp_path, f"--lexicon_file={lexicon}")
    options = f"{OPTIONS},token_probabilities=true"
    loaded = load(toy.output_dir, data_dir=str(toy.data_dir), t2t_usr_dir=str(toy.user_dir))
    expected = loaded.nbest(LINES, options, lexicon=str(lexicon))
    assert found == [hypotheses[0].text for hypotheses in expected]
    entries = read_translations(lexicon.read_text().splitlines(), "x")
    shortlister = Shortlister(entries, toy.encoder, DecodeHParams().override(options))
    lines = EncodedSide("source", [[]] * len(LINES), [], [], {}, {})
    proposed = shortlister.propose(lines, LINES).shortlists
    for hypotheses, tokens in zip(expected, proposed, strict=True):
        assert {*hypotheses[0].pieces} <= {*toy.encoder.pieces(tokens.tolist())}
    assert sum(len(hypotheses[0].pieces) for hypotheses in expected) > 10


def test_what_cannot_be_used_is_refused(toy, lexicon, tmp_path):
    given = f"--lexicon_file={lexicon}"
    (tmp_path / "prefixes").write_text("a\n" * len(LINES))
    refused = {
        "shortlist_frequent=4, shortlist_best=3: only used with --lexicon_file": (),
        "cannot be used together with --prefix_file": (
            given,
            f"--prefix_file={tmp_path / 'prefixes'}",
        ),
        "cannot be used together with --dictionary_mode=require": (
            given,
            f"--dictionary={tmp_path / 'prefixes'}",
            "--dictionary_mode=require",
        ),
        "in:1: 'the house is old' is not a lexicon entry": (f"--lexicon_file={tmp_path / 'in'}",),
    }
    for message, arguments in refused.items():
        with pytest.raises(UserError, match=re.escape(message)):
            decode(toy, tmp_path, *arguments)
    with pytest.raises(UserError, match="cannot be used with search=beam_search"):
        decode(toy, tmp_path, given, options="search=beam_search")
