import pytest

from t2t_phrase.evaluation.ngram_plot import DPI, SIZE, ngram_plot
from t2t_phrase.evaluation.ngram_precision import NgramPrecisions, OrderPrecision
from t2t_phrase.figure_files import picture_of

COMPARED = NgramPrecisions(
    [
        OrderPrecision(1, 9, 60.0, 58.0, 0.01),
        OrderPrecision(2, 7, 40.0, 41.0, 0.3),
        OrderPrecision(3, 5, 20.0, 15.0, None),
        OrderPrecision(4, 0, None, 10.0, None),
    ],
    "nrefs:1",
    compared=True,
)
ALONE = NgramPrecisions([OrderPrecision(1, 9, 60.0), OrderPrecision(2, 0, None)], "", False)


def points(line):
    return [tuple(point) for point in line.get_xydata().tolist()]


def test_differences_with_their_significance():
    (ax,) = ngram_plot(COMPARED).axes
    curve, zero, *groups = ax.get_lines()
    assert points(curve) == [(1, 2), (2, -1), (3, 5)]
    assert set(zero.get_ydata()) == {0}
    filled, empty = groups
    assert points(filled) == [(1, 2)] and points(empty) == [(2, -1), (3, 5)]
    assert filled.get_markerfacecolor() != "white" and empty.get_markerfacecolor() == "white"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "p < 0.05",
        "not significant",
    ]
    assert ax.get_ylabel() == "difference from the baseline"
    assert ax.get_xlabel() == "order of the n-grams"
    # The order without a difference has its place.
    assert ax.get_xlim() == (0.5, 4.5)


def test_precision_without_a_baseline():
    (ax,) = ngram_plot(ALONE).axes
    assert [points(line) for line in ax.get_lines()] == [[(1, 60)], [(1, 60)]]
    assert ax.get_legend() is None and ax.get_ylabel() == "n-gram precision (%)"


@pytest.mark.parametrize("compared", [False, True])
def test_nothing_to_draw_is_an_empty_plot(compared):
    found = NgramPrecisions([OrderPrecision(1, 0, None)], "", compared)
    assert picture_of(ngram_plot(found)).startswith(b"\x89PNG")


def test_equal_figures_give_equal_files():
    first, second = (picture_of(ngram_plot(COMPARED)) for _ in range(2))
    assert first == second and first != picture_of(ngram_plot(ALONE))
    width = int.from_bytes(first[16:20], "big")
    assert width == pytest.approx(SIZE[0] * DPI, rel=0.15)
