"""What is said about the dictionaries of a decoding."""

import pytest

from t2t_phrase.decoding.dictionary_files import GivenDictionaries, summary


@pytest.mark.parametrize(
    ("entries", "matched", "text"),
    [
        (1, 1, "1 dictionary entry: 1 occurrence in the sources, 1 of them applied"),
        (2, 3, "2 dictionary entries: 3 occurrences in the sources, 1 of them applied"),
    ],
)
def test_the_summary_inflects_its_nouns(entries, matched, text):
    given = GivenDictionaries([("house", "haus")] * entries, {}, {})
    said = summary({"matched": matched, "applied": 1}, given, 5)
    assert said == f"{text} in the translations"


def test_entries_for_no_sentence_are_counted():
    given = GivenDictionaries([], {6: [("house", "haus")]}, {})
    assert summary({}, given, 5).endswith("; 1 entry is for sentences after the last one")
