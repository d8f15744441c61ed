import matplotlib.colors
import numpy as np
import pytest
from matplotlib.patches import Rectangle

from t2t_phrase.figure_files import picture_of
from t2t_phrase.insights.heat_map import Group, heat_map
from t2t_phrase.insights.windows import COLOUR, HEIGHT, of_sentence
from t2t_phrase.layers.luong.window import Windows

S, D = 6, 2
WINDOWS = Windows(np.array([[9, 9, 9], [0, 3, 5]]), np.array([[9.0] * 3, [0.2, 2.6, 5.4]]), D, 1.0)


def axes(windows):
    groups = [Group("tokens", list("abc"))], [Group("tokens", list("uvwxyz"))]
    figure = heat_map([[np.full((3, S), 0.1)]], *groups, windows=windows)
    picture_of(figure)
    return figure.axes[0]


def test_windows_are_outlined_within_the_sentence():
    ax = axes(of_sentence(WINDOWS, 1))
    outlines = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    found = [(*box.get_xy(), box.get_width(), box.get_height()) for box in outlines]
    assert found == [(-0.5, -0.5, 3, 1), (0.5, 0.5, 5, 1), (2.5, 1.5, 3, 1)]
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, S - 0.5), (2.5, -0.5))
    colour = matplotlib.colors.to_rgba(COLOUR)
    assert all(box.get_edgecolor() == colour and not box.get_fill() for box in outlines)


def test_gaussians_rise_above_the_predicted_positions():
    curves = axes(of_sentence(WINDOWS, 1)).lines
    for row, (curve, mean) in enumerate(zip(curves, WINDOWS.aligned[1], strict=True)):
        x, y = curve.get_data()
        # The height of a point above the lower border of its row.
        height = (row + 0.5 - np.asarray(y)) / HEIGHT
        np.testing.assert_allclose(height, np.exp(-((x - mean) ** 2) / 2))
        assert abs(x[np.argmin(y)] - mean) <= 1 / 8


def test_without_a_gaussian_a_line_stands_at_the_position():
    (_, middle, _) = axes(of_sentence(WINDOWS._replace(deviation=None), 1)).lines
    np.testing.assert_array_equal(middle.get_data(), [[2.6, 2.6], [1.5, 0.5]])


@pytest.mark.parametrize("windows", [None])
def test_nothing_is_drawn_for_other_attention(windows):
    assert not axes(windows).lines and not axes(windows).patches
