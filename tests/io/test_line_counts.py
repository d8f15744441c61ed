import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import check_one_to_one, counted


def test_one_is_singular():
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]


def test_texts_must_have_as_many_lines():
    check_one_to_one("a", 3, "b", 3)
    with pytest.raises(UserError, match="a has 1 line and b has 3; the lines must correspond one"):
        check_one_to_one("a", 1, "b", 3)
