"""Blocks of rows against one pass over all rows, with N known and unknown when traced."""

import numpy as np
import tensorflow as tf
from keras import ops

from t2t_phrase.ops.row_blocks import RowBlocks, put_rows

X = np.arange(1.0, 15.0, dtype="float32").reshape(7, 2)


def squares_and_sum(x: tf.Tensor, rows: int | tf.Tensor) -> tuple:
    """Return the squares of all rows, their sum, and the number of rounds of the loop."""
    blocks = RowBlocks(rows, size=2, undivided=3)
    rest = blocks.rest(x) ** 2

    def step(rows: tf.Tensor, squares: tf.Tensor, total: tf.Tensor, rounds: tf.Tensor) -> tuple:
        new = ops.take(x, rows, axis=0) ** 2
        return put_rows(squares, rows, new), total + ops.sum(new), rounds + 1

    return blocks.loop(step, [blocks.widen(rest), ops.sum(rest), ops.zeros(())])


def test_blocks_equal_one_pass() -> None:
    traced = tf.function(
        lambda x: squares_and_sum(x, tf.shape(x)[0]), input_signature=[tf.TensorSpec((None, 2))]
    )
    for rows, rounds in enumerate([0, 0, 0, 0, 1, 2, 2, 3]):
        x = tf.constant(X[:rows])
        for squares, total, made in (squares_and_sum(x, rows), traced(x)):
            np.testing.assert_allclose(squares, X[:rows] ** 2)
            np.testing.assert_allclose(total, (X[:rows] ** 2).sum())
            assert made == rounds


def test_the_rest_is_never_empty_nor_larger_than_a_block() -> None:
    for rows in range(4, 40):
        assert 1 <= rows - RowBlocks(rows, size=3, undivided=3).end <= 3


def test_values_that_are_not_numbers_end_the_loop_all_the_same() -> None:
    _, total, rounds = squares_and_sum(tf.fill((7, 2), np.nan), 7)
    assert np.isnan(total) and rounds == 3


def test_a_block_waits_for_all_that_the_one_before_has_made() -> None:
    """TensorFlow would begin up to ten rounds of the loop at once, with the memory of ten."""

    @tf.function
    def run(count: tf.Tensor) -> tuple:
        def step(rows: tf.Tensor, total: tf.Tensor, largest: tf.Tensor) -> list[tf.Tensor]:
            x = tf.cast(rows, tf.float32)
            added = tf.identity(total + tf.reduce_sum(x), name="added")
            return [added, tf.maximum(largest, tf.reduce_max(x), name="compared")]

        blocks = RowBlocks(count, size=2, undivided=2)
        return blocks.loop(step, [tf.zeros(()), tf.zeros(())])

    assert [int(x) for x in run(tf.constant(9))] == [sum(range(8)), 7]
    concrete = run.get_concrete_function(tf.TensorSpec((), tf.int32))
    (body,) = (
        function
        for function in concrete.graph.as_graph_def().library.function
        if any(node.name == "while/added" for node in function.node_def)
    )
    inputs = {node.name: node.input for node in body.node_def}
    # TensorFlow's own counter and limit come first, then where the next block starts.
    start = body.ret["while_identity_2"]
    needed, found = [start], set()
    while needed:
        name = needed.pop().lstrip("^").partition(":")[0]
        if name not in found:
            found.add(name)
            needed += inputs.get(name, ())
    assert {"while/added", "while/compared"} <= found
