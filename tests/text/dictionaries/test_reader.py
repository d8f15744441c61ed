"""Dictionaries as text."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.dictionaries.reader import (
    Entry,
    read_dictionary,
    read_sentence_dictionaries,
    write_sentence_dictionaries,
)


def test_entries_have_words_on_both_sides() -> None:
    lines = [
        "credit card\tKreditkarte",
        "",
        " \t ",
        "  house \t altes\u3000Haus ",
        "house\taltes Haus",
    ]
    assert read_dictionary(lines, "d") == [
        Entry("credit card", "Kreditkarte", "d:1"),
        Entry("house", "altes Haus", "d:4"),
    ]


def test_required_entries_have_alternatives_and_may_forbid() -> None:
    lines = ["bank\tBank", "bank\tBanken", "bank\t!am Ufer", "\t!Geld", "x\t! y", "bank\tBank"]
    found = read_dictionary(lines, "d", "require")
    assert [(e.source, e.target, e.forbidden) for e in found] == [
        ("bank", "Bank", ""),
        ("bank", "Banken", ""),
        ("bank", "!am Ufer", "am Ufer"),
        ("", "!Geld", "Geld"),
        ("x", "! y", ""),
    ]
    own = read_sentence_dictionaries([f"2\t{line}" for line in lines], "d", "require")
    assert [entry[:2] for entry in own[2]] == [entry[:2] for entry in found]
    with pytest.raises(UserError, match="d:1: the source is empty"):
        read_dictionary(["\tGeld"], "d", "require")
    with pytest.raises(UserError, match="d:1: the source is empty"):
        read_dictionary(["\t!Geld"], "d")


def test_sentences_have_dictionaries_of_their_own() -> None:
    lines = ["2\ta\tx", "1\ta\ty", "2\tb c\tz", "", "2\ta\tx"]
    found = read_sentence_dictionaries(lines, "d")
    assert found == {
        2: [Entry("a", "x", "d:1"), Entry("b c", "z", "d:3")],
        1: [Entry("a", "y", "d:2")],
    }
    assert write_sentence_dictionaries(found) == ["1\ta\ty", "2\ta\tx", "2\tb c\tz"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b", r"d:2: 0 tabs; each line must be source<TAB>target$"),
        ("a\tb\tc", r"d:2: 2 tabs; each line must be source<TAB>target$"),
        (
            "3\tb\tc",
            r"source<TAB>target; for a dictionary with sentence numbers, give --sen",
        ),
        ("\tb", "d:2: the source is empty; an entry needs words on both sides"),
        ("a\t \u00a0", "d:2: the target is empty"),
        ("a " * 101 + "\tb", "d:2: the source has 101 words; at most 100"),
        ("a\t" + "b " * 101, "d:2: the target has 101 words; at most 100"),
        ("x\tother", "d:2: 'x' is translated as 'other' here and as 'y' in d:1; remove one"),
    ],
)
def test_what_is_no_entry_is_named(line: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_dictionary(["x\ty", line], "d")


@pytest.mark.parametrize("line", ["3\tb\tc", "x\tother"])
def test_other_flags_are_not_recommended_where_there_are_none(line: str) -> None:
    with pytest.raises(UserError, match=r"^[^-]+$"):
        read_dictionary(["x\ty", line], "d", alone=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb", r"d:2: 1 tab; each line must be sentence number<TAB>source<TAB>target$"),
        ("0\ta\tb", "d:2: '0' is not a sentence number; sentences are numbered from 1"),
        ("-1\ta\tb", "'-1' is not a sentence number"),
        ("٣\ta\tb", "is not a sentence number"),
        ("9" * 5000 + "\ta\tb", "is not a sentence number"),
        ("1\tx\tother", "d:2: 'x' is translated as 'other' here and as 'y' in d:1"),
        ("1\t\tb", "d:2: the source is empty"),
    ],
)
def test_what_is_no_entry_of_a_sentence_is_named(line: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_sentence_dictionaries(["1\tx\ty", line], "d")
