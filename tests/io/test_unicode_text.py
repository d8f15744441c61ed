"""Strings that UTF-8 cannot encode."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.unicode_text import check_unicode


@pytest.mark.parametrize("text", ["", "a\0\x85 é\u2028", "\U0001f600", "\uffff\ufeff"])
def test_all_characters_pass(text):
    check_unicode(text, "line 1")


@pytest.mark.parametrize(
    ("text", "half"), [("\ud800 a", "ud800"), ("a\udfff", "udfff"), ("\ude00\ud83d", "ude00")]
)
def test_the_first_half_of_a_character_is_named_in_ascii(text, half):
    with pytest.raises(UserError) as refused:
        check_unicode(text, "line 3")
    assert str(refused.value) == f"line 3: \\{half} alone is only half of a character"
