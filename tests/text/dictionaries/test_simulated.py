"""Dictionaries made from references."""

from __future__ import annotations

from typing import Any

import pytest

from t2t_phrase.text.alignments.pharaoh import read_links
from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.dictionaries.simulated import simulated_entries
from t2t_phrase.text.dictionaries.stop_words import english_stop_words, read_stop_words

SOURCE = 'the "old" house, house is small . cat dog sun'
REFERENCE = "das alte Haus, Heim ist klein . Katze Hund, Sonne"
LINKS = "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9"


def made(links: str = LINKS, translation: str = "", **options: Any) -> list[tuple[str, str]]:
    entries = simulated_entries(
        SOURCE, REFERENCE, read_links(links).sure, translation, **{"most": 99, **options}
    )
    assert all(isinstance(entry, Entry) for entry in entries)
    return [(entry.source, entry.target) for entry in entries]


def test_every_linked_word_without_a_twin_has_an_entry() -> None:
    assert made() == [
        ("the", "das"),
        ("old", "alte"),
        ("is", "ist"),
        ("small", "klein"),
        ("cat", "Katze"),
        ("dog", "Hund"),
        ("sun", "Sonne"),
    ]
    assert made("") == []


def test_links_must_be_one_to_one() -> None:
    assert made("0-0 0-1 4-4 5-4 7-7") == [("cat", "Katze")]


def test_what_the_translation_has_needs_no_entry() -> None:
    assert made("7-7 8-8", "(Hund) katze") == [("cat", "Katze")]


@pytest.mark.parametrize(("side", "left"), [("source", ["dog"]), ("target", ["the"])])
def test_stop_words_are_those_of_one_side(side: str, left: list[str]) -> None:
    found = made("0-0 8-8", stop_words={"the", "hund", "Das"}, stop_side=side)
    assert [source for source, _ in found] == left


def test_the_first_ones_are_kept() -> None:
    assert made(most=2) == [("the", "das"), ("old", "alte")]
    entries = simulated_entries(SOURCE, REFERENCE, read_links(LINKS).sure, "")
    assert len(entries) == 4


def test_each_entry_occurs_in_its_source() -> None:
    entries = [Entry(*pair) for pair in made()]
    matches = find_matches(SOURCE.split(), Phrases(entries))
    assert sorted(match.entry for match in matches) == sorted(entries)


def test_the_english_list_has_function_words_only() -> None:
    words = english_stop_words()
    assert {"the", "a", "of", "they", "don't", "whereas", "should"} <= words
    assert not words & {"house", "man", "old", "walk", "#", "articles,"}
    assert all(word == word.lower() for word in words) and 200 < len(words) < 400


def test_comments_are_no_words() -> None:
    assert read_stop_words(["A b # c", "#d", "", "e"]) == {"a", "b", "e"}
