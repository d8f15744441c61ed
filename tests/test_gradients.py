"""Gradients taken after a loop, against loops that are differentiated as they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.gradients import late_gradient

STEPS, B, D = 4, 2, 3
RNG = np.random.default_rng(0)
TAPS = RNG.normal(size=(B, STEPS, D)).astype("float32")
START = RNG.normal(size=(B, D)).astype("float32")
MATRIX = RNG.normal(size=(D, D)).astype("float32")
TARGETS = RNG.normal(size=(B, STEPS, D)).astype("float32")


def run(taps: Any, constants: Any) -> list[Any]:
    """s_t = tanh(s_{t-1} W + tap_t); returns all s_t and all s_{t-1}."""
    inputs, state = taps
    before, after = [], []
    for t in range(STEPS):
        before.append(state)
        state = tf.tanh(tf.matmul(state, constants[0]) + inputs[:, t])
        after.append(state)
    return [tf.stack(after, axis=1), tf.stack(before, axis=1)]


def replay(outputs: Any, constants: Any) -> list[Any]:
    return [tf.matmul(outputs[1], constants[0])]


def gradients(training: bool, replay: Callable[..., Any] = replay) -> list[np.ndarray]:
    given = [tf.constant(x) for x in (TAPS, START, MATRIX)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        outputs, _ = late_gradient(run, replay, given[:2], given[2:], training=training)
        loss = tf.reduce_sum(outputs * TARGETS)
    return [loss, *tape.gradient(loss, given)]


def loss_by_loops(matrix: np.ndarray) -> float:
    state, loss = START.astype("float64"), 0.0
    for t in range(STEPS):
        state = np.tanh(state @ matrix + TAPS[:, t])
        loss += (state * TARGETS[:, t]).sum()
    return loss


@pytest.mark.parametrize("xla", [False, True])
def test_equals_the_gradient_of_the_loop(xla: bool) -> None:
    plain = gradients(training=False)
    late = tf.function(lambda: gradients(training=True), jit_compile=xla)()
    for one, other in zip(late, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    direction = RNG.normal(size=MATRIX.shape)
    expected = (
        loss_by_loops(MATRIX + 1e-6 * direction) - loss_by_loops(MATRIX - 1e-6 * direction)
    ) / 2e-6
    np.testing.assert_allclose((late[3] * direction).numpy().sum(), expected, rtol=1e-4)


def test_a_graph_differentiated_from_outside() -> None:
    given = [tf.constant(x) for x in (TAPS, START, MATRIX)]

    @tf.function
    def outputs(*given: Any) -> Any:
        return late_gradient(run, replay, given[:2], given[2:], training=True)[0]

    with tf.GradientTape() as tape:
        tape.watch(given)
        loss = tf.reduce_sum(outputs(*given) * TARGETS)
    for one, other in zip(tape.gradient(loss, given), gradients(training=False)[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_constants_learn_by_the_replay_in_training_graphs_only() -> None:
    def nothing(outputs: Any, constants: Any) -> list[Any]:
        return [0.0 * part for part in replay(outputs, constants)]

    late = tf.function(lambda: gradients(True, nothing))()
    np.testing.assert_array_equal(late[3], np.zeros((D, D)))
    for values in (gradients(True, nothing), tf.function(lambda: gradients(False, nothing))()):
        np.testing.assert_allclose(values[3], gradients(False)[3], rtol=1e-5)
