import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.dictionaries.unknown_words import (
    UnknownWords,
    one_word_each,
    replace_unknown,
)

SOURCE = ["Anna", "meets", "Bob", "in", "Pontarlier"]


def test_every_unknown_word_is_translated_copied_or_left() -> None:
    words = ["<unk>", "trifft", "<unk>", "<unk>", "<unk>", "<unk>"]
    # EOS has the number 5.
    aligned = [0, 1, 4, 3, None, 5]
    found = replace_unknown(words, aligned, SOURCE, {"in": "im", "Bob": "unused"})
    assert found.words == ["Anna", "trifft", "Pontarlier", "im", "<unk>", "<unk>"]
    assert found.counts == UnknownWords(translated=1, copied=2, left=2)


def test_without_a_dictionary_words_are_copied_and_known_words_stay() -> None:
    assert replace_unknown(["a", "<unk>"], [2, 2], SOURCE) == (["a", "Bob"], (0, 1, 0))
    assert replace_unknown(["a", "<unk>"], [None, 0], SOURCE).words == ["a", "Anna"]
    assert replace_unknown([], [], []) == ([], (0, 0, 0))
    assert replace_unknown(["<unk>"], [-1], SOURCE).counts.left == 1


def test_every_word_needs_an_alignment() -> None:
    with pytest.raises(ValueError, match="expected 2 alignments, one for each word, got 1"):
        replace_unknown(["a", "b"], [0], SOURCE)


def test_entries_have_one_word_on_each_side() -> None:
    assert one_word_each([Entry("dog", "Hund"), Entry("cat", "Katze")]) == {
        "dog": "Hund",
        "cat": "Katze",
    }
    with pytest.raises(UserError, match=r"words:3: the target 'zum Hund' has several words"):
        one_word_each([Entry("dog", "zum Hund", "words:3")])
    with pytest.raises(UserError, match=r"the source 'big dog' has several words"):
        one_word_each([Entry("big dog", "Hund")])
