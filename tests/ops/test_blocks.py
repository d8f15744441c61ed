import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.ops.blocks import write_block


@pytest.mark.parametrize(("axis", "size"), [(0, 2), (1, 3), (2, 1)])
def test_write_block_replaces_one_block_whether_sizes_are_known_or_not(
    axis: int, size: int
) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 6, 5)).astype("float32")
    shape = [*x.shape]
    shape[axis] = size
    values = rng.normal(size=shape).astype("float32")
    unknown = [None, None, None]
    known = [None, None, None]
    known[axis] = size  # type: ignore[call-overload]
    dynamic = tf.function(
        lambda x, values, index: write_block(x, values, index, axis=axis),
        input_signature=[
            tf.TensorSpec(unknown, tf.float32),
            tf.TensorSpec(known, tf.float32),
            tf.TensorSpec((), tf.int32),
        ],
    )
    for index in range(x.shape[axis] // size):
        expected = x.copy()
        place = [slice(None)] * 3
        place[axis] = slice(index * size, (index + 1) * size)
        expected[tuple(place)] = values
        np.testing.assert_array_equal(write_block(x, values, index, axis=axis), expected)
        np.testing.assert_array_equal(dynamic(x, values, index), expected)
