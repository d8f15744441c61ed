import pytest

from t2t_phrase.reports.comparison.differences import MOST_PAIRS, differing_words

TEXTS = [[], ["a"], ["a", "b"], ["b", "a", "c"], ["x"] * 4, list("abcabca")]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_the_words_between_are_those_of_the_other_text(text, other):
    found = differing_words(text, other)
    marked = {at for first, end in found for at in range(first, end)}
    assert all(first < end for first, end in found) and found == sorted(found)
    rest = iter(other)
    assert all(word in rest for at, word in enumerate(text) if at not in marked)
    if text == other:
        assert not found
    if not set(text) & set(other):
        assert marked == set(range(len(text)))


def test_a_replaced_word_is_marked():
    assert differing_words(["ein", "alter", "Mann", "geht"], ["ein", "Mann", "geht"]) == [(1, 2)]
    assert differing_words(["ein", "Mann", "geht"], ["ein", "alter", "Mann", "geht"]) == []


def test_very_repetitive_texts_are_compared_as_a_whole():
    words = ["a", "b"] * 160
    assert MOST_PAIRS < 2 * 160 * 160
    assert differing_words(words, words) == []
    assert differing_words(words, words[1:]) == [(0, 320)]
    assert differing_words(words[:200], words[1:200]) == [(0, 1)]


def test_long_texts_are_compared_word_by_word():
    words = [str(number) for number in range(3000)]
    assert differing_words(words, words[:7] + words[8:]) == [(7, 8)]
