import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.ops.blocks import add_block, write_block


def replaced(x, values, index, axis):
    out = np.moveaxis(x.copy(), axis, 0)
    size = values.shape[axis]
    out[index * size : (index + 1) * size] = np.moveaxis(values, axis, 0)
    return np.moveaxis(out, 0, axis)


@pytest.mark.parametrize("axis, size", [(0, 1), (1, 3), (2, 2), (2, 1)])
@pytest.mark.parametrize("index", [0, 1])
def test_one_block_is_wholeand_nothing_else(axis, size, index):
    draw = np.random.default_rng(axis)
    x = draw.normal(size=(2, 6, 4)).astype("float32")
    shape = [2, 6, 4]
    shape[axis] = size
    values = draw.normal(size=shape).astype("float32")
    np.testing.assert_array_equal(
        write_block(x, values, index, axis=axis), replaced(x, values, index, axis)
    )


def test_unknown_sizes_give_the_same_by_plain_operations():
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, 4)),
            tf.TensorSpec((None, 3, 4)),
            tf.TensorSpec((), tf.int32),
        ]
    )
    def write(x, values, index):
        return write_block(x, values, index, axis=1)

    operations = {op.type for op in write.get_concrete_function().graph.get_operations()}
    assert not any(name.startswith("Xla") for name in operations)
    draw = np.random.default_rng(0)
    for batch, blocks, index in ((2, 2, 1), (1, 5, 0), (0, 2, 1)):
        x = draw.normal(size=(batch, 3 * blocks, 4)).astype("float32")
        values = draw.normal(size=(batch, 3, 4)).astype("float32")
        np.testing.assert_array_equal(write(x, values, index), replaced(x, values, index, 1))


@pytest.mark.parametrize("axis, size", [(0, 1), (1, 3), (2, 2)])
def test_a_history_that_grows_ends_as_one_with_room(axis, size):
    shape = [2, 3, 4]
    shape[axis] = size
    blocks = np.random.default_rng(axis).normal(size=(3, *shape)).astype("float32")
    full = list(shape)
    full[axis] = 3 * size

    @tf.function
    def grown(nothing):
        start = list(shape)
        start[axis] = nothing
        history = tf.zeros(start)
        for index in tf.range(3):
            history = add_block(history, tf.constant(blocks)[index], index, axis=axis)
        return history

    whole = np.zeros(full, "float32")
    for index in range(3):
        whole = add_block(tf.constant(whole), blocks[index], index, axis=axis)
    np.testing.assert_array_equal(grown(tf.constant(0)), whole)
    np.testing.assert_array_equal(whole, np.concatenate(blocks, axis=axis))
