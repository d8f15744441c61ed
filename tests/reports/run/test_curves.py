import math

import matplotlib
import pytest
from matplotlib.figure import Figure

from t2t_phrase.reports.run.curves import Curve, draw, drawn, finite, perplexity, thinned


def test_few_points_stay():
    values = [(step, step * 2.0) for step in range(10)]
    assert thinned(values, 10) == values and thinned([], 10) == []


@pytest.mark.parametrize("count", [11, 99, 100, 101, 1234])
def test_many_points_become_means_of_neighbours(count):
    values = [(step, float(step**2 % 17)) for step in range(1, count + 1)]
    found = thinned(values, 10)
    assert len(found) <= 10 and found[-1][0] == count
    before = 0
    for step, mean in found:
        group = [value for at, value in values if before < at <= step]
        assert mean == pytest.approx(sum(group) / len(group))
        before = step


def test_values_that_are_no_numbers_have_no_points():
    assert finite([(1, math.inf), (2, 1.0), (3, math.nan)]) == [(2, 1.0)]
    assert perplexity(1e4) == math.inf and perplexity(2.0) == pytest.approx(math.e**2)


CURVE = Curve("Loss", {"training": [(1, 3.0), (2, 2.0)], "development": [(2, 2.5)]}, "per token")


def test_lines_differ_in_more_than_colour():
    figure = draw(CURVE)
    assert isinstance(figure, Figure)
    lines = figure.axes[0].get_lines()
    assert [list(line.get_xydata().ravel()) for line in lines] == [[1, 3, 2, 2], [2, 2.5]]
    for look in ("color", "linestyle", "marker"):
        assert len({getattr(line, f"get_{look}")() for line in lines}) == 2
    assert draw(Curve("x", {"a": [(1, 1.0), (2, 900.0)]}, "y")).axes[0].get_yscale() == "log"
    assert matplotlib.rcParams["svg.fonttype"] == "path"


def test_the_ends_are_said_in_words():
    made = drawn(CURVE)
    assert made.summary == (
        "Loss: training from 3 at update 1 to 2 at update 2; development from 2.5 at update 2 to "
        "2.5 at update 2."
    )
    assert made.summary in made.svg and ">training</text>" in made.svg
