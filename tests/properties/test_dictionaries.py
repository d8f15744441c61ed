"""Dictionaries: only documented errors, and what is written is read again."""

import contextlib

from hypothesis import example, given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import (
    Entry,
    read_dictionary,
    read_sentence_dictionaries,
    write_sentence_dictionaries,
)
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

ENCODER = SubwordEncoder(train_subwords(["a b ü (x)."] * 20, vocab_size=270))
SOUP = st.lists(
    st.sampled_from([*"ab12 \t.(", "\u2581", "ü", "\x00", "\u3000", "٣", "1\ta\tb", "a\tb"])
).map("".join)
LINES = st.lists(st.one_of(SOUP, st.text(max_size=20)), max_size=5)
PHRASES = st.lists(st.sampled_from(["a", "b.", "(ü", "日", "#"]), min_size=1, max_size=3).map(
    " ".join
)
SENTENCES = st.lists(st.sampled_from([*"ab .(#", "ü", "日", "\u3000", "b."])).map("".join)


@given(lines=LINES)
@example(lines=["9" * 5000 + "\ta\tb"])
@example(lines=["\ta", "a\t", "\t\t"])
def test_only_user_errors_are_raised(lines):
    for read in (read_dictionary, read_sentence_dictionaries):
        with contextlib.suppress(UserError):
            found = read(lines, "d")
            entries = found if isinstance(found, list) else [e for v in found.values() for e in v]
            for entry in entries:
                assert entry.source == " ".join(entry.source.split()) != ""
                assert entry.target == " ".join(entry.target.split()) != ""
                with contextlib.suppress(UserError):
                    Dictionary([entry], ENCODER)


@given(
    st.dictionaries(
        st.integers(1, 999), st.dictionaries(PHRASES, PHRASES, min_size=1, max_size=3), max_size=3
    )
)
def test_what_is_written_is_read_again(dictionaries):
    entries = {
        number: [Entry(*pair) for pair in own.items()] for number, own in dictionaries.items()
    }
    lines = write_sentence_dictionaries(entries)
    found = read_sentence_dictionaries(lines, "d")
    assert {n: [e[:2] for e in own] for n, own in found.items()} == {
        n: [e[:2] for e in own] for n, own in entries.items()
    }


@given(text=SENTENCES, phrases=st.lists(PHRASES, max_size=5, unique=True))
def test_matches_are_apart_and_spell_their_phrases(text, phrases):
    entries = [Entry(phrase, "x") for phrase in phrases]
    words = text.split()
    matches = find_matches(words, Phrases(entries))
    end = 0
    for match in matches:
        assert end <= match.start < match.end <= len(words)
        end = match.end
        spelt = " ".join(words[match.start : match.end])
        assert spelt[match.skipped : len(spelt) - match.left] == match.entry.source
    # None is left that would fit.
    taken = {word for match in matches for word in range(match.start, match.end)}
    for start in set(range(len(words))) - taken:
        for match in Phrases(entries).at(words, start):
            assert taken & {*range(match.start, match.end)}


@given(text=SENTENCES, phrases=st.lists(PHRASES, max_size=5, unique=True), cut=st.integers(0, 9))
def test_every_entry_that_applies_has_a_token(text, phrases, cut):
    dictionary = Dictionary([Entry(phrase, f"x {i}") for i, phrase in enumerate(phrases)], ENCODER)
    ((ids, starts),) = ENCODER.encode_with_starts([text])
    found = dictionary.apply(Sentence(text, ids, starts), cut=cut)
    numbers = [number for number in found.starts if number]
    assert {*numbers} == {*range(1, len(found.tokens) + 1)} and numbers == sorted(numbers)
    assert len(found.starts) in (0, min(cut, len(ids)) + 1)
