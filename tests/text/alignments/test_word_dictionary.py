import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.alignments.word_dictionary import dictionary_lines, word_dictionary

PAIRS = [
    ("the house", "das Haus", "0-0 1-1"),
    ("the cat", "die Katze", "0-0 1-1"),
    ("the house .", "das Haus .", "0-0 1-1 2-2 1?0"),
    ("a cat", "ein Kater", "0-0 1-1"),
    ("", "", ""),
]


def test_the_most_frequent_translation_wins_and_ties_are_settled() -> None:
    expected = {".": ".", "a": "ein", "cat": "Kater", "house": "Haus", "the": "das"}
    found = word_dictionary(PAIRS)
    assert found == expected
    assert word_dictionary(PAIRS[::-1]) == expected
    assert dictionary_lines(found)[:2] == [".\t.", "a\tein"]


def test_rare_translations_can_be_left_out() -> None:
    assert word_dictionary(PAIRS, least=2) == {"house": "Haus", "the": "das"}


@pytest.mark.parametrize(
    ("alignment", "message"),
    [("0-9", "x.align:2: link 0-9: there is no target word 9"), ("1-", "x.align:2: '1-' is not a")],
)
def test_a_wrong_alignment_is_named_by_its_line(alignment: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        word_dictionary([PAIRS[0], ("a", "b", alignment)], name="x.align")
