"""McNemar's test against its definition."""

import itertools
import math
from fractions import Fraction

import pytest

from t2t_phrase.evaluation.mcnemar import mcnemar


@pytest.mark.parametrize(("gained", "lost"), itertools.product(range(6), repeat=2))
def test_the_p_value_is_the_share_of_equally_likely_outcomes_that_are_as_unequal(gained, lost):
    cases, uneven = gained + lost, abs(gained - lost)
    outcomes = [abs(2 * sum(x) - cases) for x in itertools.product((0, 1), repeat=cases)]
    assert mcnemar(gained, lost) == pytest.approx(sum(x >= uneven for x in outcomes) / 2**cases)


@pytest.mark.parametrize(
    ("gained", "lost"), [(3, 9), (40, 60), pytest.param(4000, 3900, marks=pytest.mark.slow)]
)
def test_it_equals_the_sum_of_exact_fractions(gained, lost):
    cases = gained + lost
    tail = sum(math.comb(cases, k) for k in range(min(gained, lost) + 1))
    assert mcnemar(gained, lost) == pytest.approx(float(Fraction(2 * tail, 2**cases)))


def test_many_items():
    assert mcnemar(0, 0) == mcnemar(100_000, 100_000) == 1.0
    assert mcnemar(0, 2000) == 0.0
    assert 0 < mcnemar(4000, 3000) < 1e-30
