import pytest

from t2t_phrase.config import UserError
from t2t_phrase.decoding.text_lists import check_list


def test_a_string_is_no_list_of_strings():
    check_list("texts", ["a", "b"])
    check_list("texts", ())
    with pytest.raises(
        UserError, match=r"^texts: expected .*, got 'old cat'; write \['old cat'\]$"
    ):
        check_list("texts", "old cat")
