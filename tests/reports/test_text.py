import unicodedata

import pytest
from hostile_text import HOSTILE

from t2t_phrase.config import UserError
from t2t_phrase.reports.text import clipped, visible


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_visible_text_can_stand_in_html(text):
    shown = visible(text)
    shown.encode("utf-8")
    assert not {c for c in shown if unicodedata.category(c) in ("Cc", "Cs")} - {"\t", "\n"}
    assert len(shown) == len(text)


def test_control_characters_become_their_pictures():
    assert visible("a\x00\x1b\x7f\n\tb\x85\ud800") == "a␀␛␡\n\tb\ufffd\ufffd"


def test_other_text_is_not_changed():
    text = HOSTILE["emoji"] + HOSTILE["right to left"] + HOSTILE["markup"] + HOSTILE["lines"]
    assert visible(text) == text


def test_long_texts_are_cut_with_a_note():
    assert clipped("abc", 3) == "abc"
    assert clipped("x" * 1500, 200) == "x" * 200 + " [... 1,300 more characters]"
    with pytest.raises(UserError, match="texts of 0 characters"):
        clipped("abc", 0)
