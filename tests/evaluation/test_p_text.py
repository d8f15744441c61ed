import pytest

from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.phenomena import Comparison


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (None, 4, "-"),
        (1.0, 4, "1.0000"),
        (0.0123, 4, "0.0123"),
        (0.00006, 4, "0.0001"),
        (0.00004, 4, "<0.0001"),
        (0.0, 3, "<0.001"),
    ],
)
def test_no_p_value_is_zero(value, places, text):
    assert p_text(value, places=places) == text


def test_a_small_p_of_phenomena_is_below_a_bound():
    assert str(Comparison("idiom", 40, 2, 1e-9)).endswith("only, p < 0.0001")
    assert str(Comparison("idiom", 4, 2, 0.6875)).endswith("only, p = 0.6875")
