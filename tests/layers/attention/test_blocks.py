import numpy as np
import pytest

from t2t_phrase.layers.attention.blocks import split_blocks
from t2t_phrase.layers.attention.layout import Layout, Units

BATCH, HEADS, QUERIES, KEYS = 2, 5, 3, 4
ONE, TWO, THREE, FOUR = map(Units, (1, 2, 3, 4))


@pytest.mark.parametrize(
    "layout",
    [
        Layout(HEADS),
        Layout(HEADS, columns=(ONE, TWO, FOUR)),
        Layout(HEADS, (ONE, TWO), (ONE, TWO)),
        Layout(HEADS, (ONE, TWO, THREE), (ONE, TWO, THREE)),
    ],
)
def test_each_block_is_that_of_its_rows_and_columns(layout: Layout) -> None:
    count, width = len(layout.rows), len(layout.columns)
    weights = np.random.default_rng(0).normal(size=(BATCH, HEADS, count * QUERIES, width * KEYS))
    blocks = split_blocks(weights, layout)
    seen = 0
    for row in range(weights.shape[2]):
        for column in range(weights.shape[3]):
            m, i = divmod(row, QUERIES)
            n, j = divmod(column, KEYS)
            np.testing.assert_array_equal(blocks[m][n][:, :, i, j], weights[:, :, row, column])
            seen += 1
    assert seen == sum(block.shape[2] * block.shape[3] for row in blocks for block in row)


def test_heads_with_columns_of_their_own() -> None:
    layout = Layout(HEADS, columns_by_head=(TWO, TWO, ONE, THREE, TWO))
    weights = np.random.default_rng(0).normal(size=(BATCH, HEADS, QUERIES, KEYS)).astype("float32")
    ((first, second, third),) = split_blocks(weights, layout)
    assert layout.all_columns == (TWO, ONE, THREE)
    np.testing.assert_array_equal(first, weights[:, [0, 1, 4]])
    np.testing.assert_array_equal(second, weights[:, [2]])
    np.testing.assert_array_equal(third, weights[:, [3]])


def test_rows_of_blocks_whose_heads_have_columns_of_their_own() -> None:
    layout = Layout(HEADS, rows=(ONE, TWO), columns_by_head=(ONE, ONE, TWO, TWO, TWO))
    weights = np.random.default_rng(0).normal(size=(BATCH, HEADS, 6, KEYS)).astype("float32")
    blocks = split_blocks(weights, layout)
    np.testing.assert_array_equal(blocks[1][1], weights[:, 2:, 3:])
    np.testing.assert_array_equal(blocks[1][0], weights[:, :2, 3:])
