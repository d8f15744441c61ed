"""The part of a word that an aligner compares."""

import pytest

from t2t_phrase.word_aligner.words import compared, numbered


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("House.", "house"),
        ("„Haus“,", "haus"),
        ("don't", "don't"),
        ("...", "..."),
        ("$5", "5"),
        ("कि।", "कि"),
        ("n\u0303", "n\u0303"),
    ],
)
def test_punctuation_and_case_do_not_count(word, expected):
    assert compared(word, lowercase=True) == expected


def test_words_are_numbered_in_order():
    assert numbered([["b", "a,"], ["A", "b."]], lowercase=True) == [[0, 1], [1, 0]]
    assert numbered([["b", "a,"], ["A", "b."]], lowercase=False) == [[0, 1], [2, 0]]
