import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.rows import take_rows

ROWS = np.array([[1, 1, 0], [2, 0, 2]], "int32")


@pytest.mark.parametrize("others", [(), (4,), (2, 3), (0,)])
def test_rows_of_each_sentence_are_chosen(others):
    x = np.random.default_rng(0).normal(size=(2, 3, *others))
    expected = np.stack([x[b, ROWS[b]] for b in range(2)])
    found = take_rows(x, ROWS)
    assert tuple(found.shape) == (2, 3, *others)
    np.testing.assert_array_equal(found, expected)


def test_rows_may_have_more_axes_and_sizes_be_unknown():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    rows = np.stack([ROWS, ROWS[:, ::-1]], axis=1)  # (2, 2, 3)
    take = traced(
        take_rows,
        input_signature=[
            tf.TensorSpec((None, None, None), tf.float64),
            tf.TensorSpec((None,) * 3, tf.int32),
        ],
    )
    expected = np.stack([x[b, rows[b]] for b in range(2)])
    np.testing.assert_array_equal(take(x, rows), expected)
