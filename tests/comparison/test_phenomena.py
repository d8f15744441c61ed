"""Idioms, compounds and the like, compared."""

from t2t_phrase.comparison import phenomena
from t2t_phrase.evaluation.phenomena import Judgement


def test_phenomena_are_compared_seed_by_seed():
    def judged(*right):
        return [Judgement("idiom", good, good) for good in right]

    made = phenomena.rows(
        {
            ("base", 1): judged(False, False, False, True),
            ("new", 1): judged(True, True, False, False),
            ("new", 2): judged(True, True, True, True),
        },
        "base",
    )
    assert made["base"]["idiom"]["accuracy"] == 25.0 and made["base"]["idiom"]["total"] == 4
    new = made["new"]["idiom"]
    assert new["accuracy"] == 75.0 and new["right_by_seed"] == {1: 2, 2: 4}
    assert new["gained_by_seed"] == {1: 2} and new["lost_by_seed"] == {1: 1}
    assert phenomena.columns(made) == {
        "idioms": {"base": "25.00%", "new": "75.00%"},
        "p (idioms)": {"base": "", "new": "1.000"},
    }
