"""The scan with cells of several kinds; `tests/layers/recurrent` compares the LSTM with loops."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from t2t_phrase.compile import traced
from t2t_phrase.ops.recurrent import fused_lstm_step, lstm_step, scan

B, T, D, U = 3, 6, 4, 5
RNG = np.random.default_rng(0)
LENGTHS = [6, 1, 4]
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
PROJECTED = RNG.normal(size=(B, T, 4 * U)).astype("float32")
KERNEL = RNG.normal(size=(U, 4 * U)).astype("float32")
STATE = tuple(RNG.normal(size=(B, U)).astype("float32") for _ in range(2))
STATE_MASK = RNG.integers(0, 2, (B, U)).astype("float32") * 2
TARGETS = RNG.normal(size=(B, T, U)).astype("float32")


def decay(x: Any, state: Any) -> Any:
    """A cell whose output is wider than its states, which are two of different width."""
    total, last = state
    total = 0.5 * total + ops.sum(x, axis=-1, keepdims=True)
    return ops.concatenate([total, last], axis=-1), (total, x)


@pytest.mark.parametrize("reverse", [False, True])
def test_any_cell_equals_a_loop(reverse: bool) -> None:
    x = RNG.normal(size=(B, T, D)).astype("float32")
    state = (np.ones((B, 1), "float32"), np.zeros((B, D), "float32"))
    outputs, (total, last) = scan(decay, x, state, mask=MASK, reverse=reverse)
    assert outputs.shape == (B, T, 1 + D)
    for b, length in enumerate(LENGTHS):
        running, before = 1.0, np.zeros(D)
        for t in reversed(range(length)) if reverse else range(length):
            running = 0.5 * running + x[b, t].sum()
            np.testing.assert_allclose(outputs[b, t], [running, *before], rtol=1e-5, atol=1e-6)
            before = x[b, t]
        np.testing.assert_allclose(total[b, 0], running, rtol=1e-5)
        np.testing.assert_array_equal(last[b], before)
        np.testing.assert_array_equal(outputs[b, length:], np.zeros((T - length, 1 + D)))


def values_and_gradients(run: Any, mask: Any, reverse: bool) -> list[Any]:
    """Return outputs, states and the gradients of a loss that reads all of them."""
    given = [tf.constant(x) for x in (PROJECTED, KERNEL, STATE_MASK, *STATE)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        projected, kernel, state_mask, h, c = given
        outputs, (h, c) = run(projected, kernel, state_mask, (h, c), mask, reverse)
        loss = tf.reduce_sum(outputs * TARGETS) + tf.reduce_sum(h * TARGETS[:, 0] + c)
    return [outputs, h, c, *tape.gradient(loss, given)]


def by_scan(projected: Any, kernel: Any, state_mask: Any, state: Any, mask: Any, reverse: bool):
    def cell(x: Any, state: Any) -> Any:
        return lstm_step(x, state, kernel, state_mask)

    return scan(cell, projected, state, mask=mask, reverse=reverse)


def by_loop(projected: Any, kernel: Any, state_mask: Any, state: Any, mask: Any, reverse: bool):
    """Read each sequence on its own, without its padding."""
    rows, ends = [], []
    for b in range(B):
        row = {}
        h, c = state[0][b : b + 1], state[1][b : b + 1]
        steps = [t for t in range(T) if mask is None or mask[b, t]]
        for t in reversed(steps) if reverse else steps:
            x, dropped = projected[b : b + 1, t], state_mask[b : b + 1]
            row[t], (h, c) = lstm_step(x, (h, c), kernel, dropped)
        rows.append(tf.stack([row.get(t, tf.zeros((1, U)))[0] for t in range(T)]))
        ends.append((h[0], c[0]))
    h, c = (tf.stack(parts) for parts in zip(*ends, strict=True))
    return tf.stack(rows), (h, c)


@pytest.mark.parametrize("way", ["eager", "graph", pytest.param("xla", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("mask", "reverse"), [(None, False), (MASK, False), (MASK, True)], ids=["full", "mask", "back"]
)
def test_values_and_gradients_equal_a_loop(mask: Any, reverse: bool, way: str) -> None:
    expected = values_and_gradients(by_loop, mask, reverse)
    if way == "eager":
        found = values_and_gradients(by_scan, mask, reverse)
    else:
        found = with_unknown_shapes(mask, reverse, xla=way == "xla")
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, atol=2e-5)


def with_unknown_shapes(mask: Any, reverse: bool, *, xla: bool) -> list[Any]:
    """Trace for any batch and length, as the step of training does; XLA compiles the inner part."""
    specs = [
        tf.TensorSpec((None, None, 4 * U)),
        tf.TensorSpec((None, None), tf.bool),
        tf.TensorSpec((None, None, U)),
    ]

    def inner(projected: Any, mask_given: Any, targets: Any) -> list[Any]:
        given = [projected, *map(tf.constant, (KERNEL, STATE_MASK, *STATE))]
        with tf.GradientTape() as tape:
            tape.watch(given)
            _, kernel, state_mask, h, c = given
            used = None if mask is None else mask_given
            outputs, (h, c) = by_scan(given[0], kernel, state_mask, (h, c), used, reverse)
            loss = tf.reduce_sum(outputs * targets) + tf.reduce_sum(h * targets[:, 0] + c)
        return [outputs, h, c, *tape.gradient(loss, given)]

    compiled = traced(inner, jit_compile=xla or None)
    outer = traced(lambda *arrays: compiled(*arrays), input_signature=specs)
    return outer(PROJECTED, MASK, TARGETS)


@pytest.mark.parametrize("reverse", [False, True])
def test_padding_changes_nothing(reverse: bool) -> None:
    garbage = np.where(MASK[..., None], PROJECTED, np.float32(1e4))
    results = [by_scan(x, KERNEL, STATE_MASK, STATE, MASK, reverse) for x in (PROJECTED, garbage)]
    for one, other in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_array_equal(one, other)
    longer = np.pad(PROJECTED, [(0, 0), (0, 3), (0, 0)])
    outputs, state = by_scan(
        longer, KERNEL, STATE_MASK, STATE, np.pad(MASK, [(0, 0), (0, 3)]), reverse
    )
    np.testing.assert_array_equal(outputs[:, :T], results[0][0])
    np.testing.assert_array_equal(state[1], results[0][1][1])


def test_a_sequence_of_padding_keeps_its_state() -> None:
    mask = np.zeros((B, T), bool)
    outputs, state = by_scan(PROJECTED, KERNEL, STATE_MASK, STATE, mask, False)
    np.testing.assert_array_equal(outputs, np.zeros((B, T, U)))
    np.testing.assert_array_equal(state[0], STATE[0])
    np.testing.assert_array_equal(state[1], STATE[1])


def test_one_product_for_inputs_and_state_is_the_same_step() -> None:
    x, bias = RNG.normal(size=(B, D)).astype("float32"), RNG.normal(size=4 * U).astype("float32")
    kernel = RNG.normal(size=(D, 4 * U)).astype("float32")
    expected = tf.nest.flatten(lstm_step(x @ kernel + bias, STATE, KERNEL))
    fused = fused_lstm_step(x, STATE, np.concatenate([kernel, KERNEL]), bias)
    for one, other in zip(tf.nest.flatten(fused), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
