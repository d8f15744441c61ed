import struct

import matplotlib
import numpy as np
import pytest
from matplotlib import _pylab_helpers

from t2t_phrase.figure_files import picture_of
from t2t_phrase.insights.heat_map import DPI, Group, heat_map

QUERIES = [Group("tokens", ["Ein", "$a$ 100%", "##n"]), Group("2-grams", ["Ein $a$", "$a$n"])]
KEYS = [Group("tokens", list("abcd")), Group("2-grams", ["ab", "bc", "cd"])]
BLOCKS = [
    [
        np.random.default_rng(len(q.labels) + 9 * len(k.labels)).random(
            (len(q.labels), len(k.labels))
        )
        for k in KEYS
    ]
    for q in QUERIES
]


@pytest.fixture
def figure():
    return heat_map(
        BLOCKS, QUERIES, KEYS, title="layer 1\nmodel_a", query_side="target", key_side="source"
    )


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def test_four_quadrants(figure):
    figure.canvas.draw()
    *quadrants, bar = figure.axes
    assert len(quadrants) == 4
    for ax, block in zip(quadrants, [b for row in BLOCKS for b in row], strict=True):
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), block)
        assert image.get_clim() == (0, max(b.max() for row in BLOCKS for b in row))
    upper_left, upper_right, lower_left, lower_right = quadrants
    assert labels(upper_left.get_yticklabels()) == QUERIES[0].labels
    assert labels(lower_left.get_yticklabels()) == QUERIES[1].labels
    assert labels(lower_left.get_xticklabels()) == KEYS[0].labels
    assert labels(lower_right.get_xticklabels()) == KEYS[1].labels
    assert labels(upper_left.get_xticklabels()) == labels(upper_right.get_yticklabels()) == []
    assert [text.get_text() for text in upper_right.texts] == [
        "from target\ntokens",
        "to source\n2-grams",
    ]
    assert [text.get_text() for text in lower_right.texts] == ["from target\n2-grams"]
    assert figure.get_suptitle() == "layer 1\nmodel_a"
    assert len(bar.images) == 0


def test_quadrants_lie_as_in_the_paper_and_their_cells_are_equal_squares(figure):
    upper_left, upper_right, lower_left, lower_right = (
        ax.get_position() for ax in figure.axes[:-1]
    )
    assert upper_left.x1 < upper_right.x0 and lower_left.x1 < lower_right.x0
    assert lower_left.y1 < upper_left.y0 and lower_right.y1 < upper_right.y0
    inches = figure.get_size_inches()
    cells = {
        round(side, 6)
        for box, block in zip(
            (upper_left, upper_right, lower_left, lower_right),
            (b for row in BLOCKS for b in row),
            strict=True,
        )
        for side in (
            box.width * inches[0] / block.shape[1],
            box.height * inches[1] / block.shape[0],
        )
    }
    assert len(cells) == 1


def test_a_png_holds_all_labels_and_is_the_same_each_time(figure):
    content = picture_of(figure)
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", content[16:24])
    # Labels and the scale stand outside of the blocks.
    blocks = figure.get_size_inches() * DPI
    assert size[0] > blocks[0] and size[1] > blocks[1]
    again = heat_map(
        BLOCKS, QUERIES, KEYS, title="layer 1\nmodel_a", query_side="target", key_side="source"
    )
    assert picture_of(again) == content


def test_long_sentences_get_smaller_cells():
    words = [str(i) for i in range(220)]
    groups = [Group("tokens", words)]
    figure = heat_map([[np.eye(220)]], groups, groups)
    assert max(figure.get_size_inches()) <= 40


def test_a_block_of_zeros_is_drawn():
    groups = [Group("tokens", ["a"])]
    picture_of(heat_map([[np.zeros((1, 1))]], groups, groups))


def test_characters_without_a_font_cause_no_warning(recwarn):
    private = "\ue0ff"
    groups = [Group("tokens", [private])]
    picture_of(heat_map([[np.ones((1, 1))]], groups, groups))
    assert not [w for w in recwarn if "missing" in str(w.message)]


def test_nothing_global_is_touched(figure):
    before = dict(matplotlib.rcParams)
    picture_of(figure)
    assert dict(matplotlib.rcParams) == before
    assert not _pylab_helpers.Gcf.figs
