"""The LSTM layer against loops of float64 arithmetic, and under every way to run it."""

import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import reference_lstm as reference
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.compile import traced
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.ops.recurrent import lstm_step, scan

B, T, D, U, K = 3, 6, 4, 5, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, T, D)).astype("float32")
LENGTHS = [6, 1, 4]
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
STATE = tuple(RNG.normal(size=(B, U)).astype("float32") for _ in range(2))


def make(dtype: str = "float32", seed: int = 0, **options: Any) -> LSTM:
    layer = LSTM(units=U, dtype=dtype, **options)
    layer.build((None, None, D))
    randomize(layer, seed=seed)
    return layer


def loops(layer: LSTM, b: int, state: Any = None, **options: Any) -> Any:
    weights = {v.name: np.asarray(v, "float64") for v in layer.trainable_variables}
    given = None if state is None else tuple(part[b] for part in state)
    return reference.run(X[b, : LENGTHS[b]], weights, state=given, **options)


@pytest.mark.parametrize("go_backwards", [pytest.param(False, marks=pytest.mark.slow), True])
def test_contract(check_layer: Callable, go_backwards: bool) -> None:
    check_layer(
        lambda dtype: LSTM(units=U, go_backwards=go_backwards, dtype=dtype),
        [X, MASK],
        weights=4 * U * (D + U + 1),
    )


@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("state", [None, STATE], ids=["from zeros", "from a state"])
def test_equals_loops(state: Any, go_backwards: bool) -> None:
    layer = make(go_backwards=go_backwards)
    outputs, (h, c) = layer(X, MASK, initial_state=state)
    for b, length in enumerate(LENGTHS):
        expected, (last_h, last_c) = loops(layer, b, state, reverse=go_backwards)
        np.testing.assert_allclose(outputs[b, :length], expected, atol=1e-6)
        np.testing.assert_array_equal(outputs[b, length:], np.zeros((T - length, U)))
        np.testing.assert_allclose(h[b], last_h, atol=1e-6)
        np.testing.assert_allclose(c[b], last_c, atol=1e-6)


def test_no_mask_is_no_padding() -> None:
    layer = make()
    with_mask = layer(X, np.ones((B, T), bool))
    for one, other in zip(*map(tf.nest.flatten, (layer(X), with_mask)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_step_by_step_equals_the_whole_for_every_beam() -> None:
    layer = make(dropout=0.5, recurrent_dropout=0.5)
    beams = np.stack([X, X[::-1]], axis=1)  # (B, K, T, D)
    flat_state = tuple(np.repeat(part, K, axis=0) for part in STATE)
    whole, last = layer(beams.reshape(B * K, T, D), initial_state=flat_state)
    state = tuple(part.reshape(B, K, U) for part in flat_state)
    for time in range(T):
        output, state = layer.step(beams[:, :, time], state)
        expected = np.reshape(whole, (B, K, T, U))[:, :, time]
        np.testing.assert_allclose(output, expected, atol=1e-6)
    for one, other in zip(state, last, strict=True):
        np.testing.assert_allclose(one, np.reshape(other, (B, K, U)), atol=1e-6)
    zeros, _ = layer.start_state(B, K)
    np.testing.assert_array_equal(zeros, np.zeros((B, K, U)))


def test_the_forget_gate_starts_open() -> None:
    layer = LSTM(units=2)
    layer.build((None, None, D))
    np.testing.assert_array_equal(layer.bias, [0, 0, 1, 1, 0, 0, 0, 0])


def test_recurrent_dropout_is_one_mask_for_a_sequence() -> None:
    layer = make(recurrent_dropout=0.5)
    layer.state_dropout.seed_generator.state.assign([3, 0])
    outputs, (h, _) = layer(X, MASK, training=True)
    twin = Dropout(0.5)
    twin.seed_generator.state.assign([3, 0])
    drawn = np.asarray(twin(np.ones((B, U), "float32"), training=True))
    assert 0 < (drawn == 0).sum() < B * U
    for b, length in enumerate(LENGTHS):
        expected, (last_h, _) = loops(layer, b, state_mask=drawn[b])
        np.testing.assert_allclose(outputs[b, :length], expected, atol=1e-6)
        np.testing.assert_allclose(h[b], last_h, atol=1e-6)


def test_dropout_draws_a_mask_for_every_element() -> None:
    rate, rows, steps = 0.3, 200, 50
    layer = LSTM(units=1, dropout=rate)
    layer.build((None, None, 1))
    # The output tells whether the input was dropped, nothing else: no recurrence, closed forget
    # gate, open output gate.
    layer.kernel.assign([[0.0, 0.0, 1.0, 0.0]])
    layer.recurrent_kernel.assign(np.zeros((1, 4)))
    layer.bias.assign([50.0, -50.0, 0.0, 50.0])
    ones = np.ones((rows, steps, 1), "float32")
    outputs = np.asarray(layer(ones, training=True)[0])[..., 0]
    kept = outputs > 1e-3
    np.testing.assert_allclose(outputs[kept], np.tanh(np.tanh(1 / (1 - rate))), rtol=1e-5)
    np.testing.assert_allclose(outputs[~kept], 0.0, atol=1e-20)
    assert abs(kept.mean() - (1 - rate)) < 0.02
    # Neither time steps nor sequences share a mask.
    assert len(np.unique(kept, axis=0)) == rows and len(np.unique(kept, axis=1).T) == steps
    plain = np.asarray(layer(ones)[0])
    np.testing.assert_allclose(plain, np.tanh(np.tanh(1.0)), rtol=1e-5)


def test_recurrent_dropout_keeps_its_share() -> None:
    layer = LSTM(units=U, recurrent_dropout=0.3)
    drawn = np.asarray(layer.state_dropout(np.ones((4000, U), "float32"), training=True))
    assert abs((drawn > 0).mean() - 0.7) < 0.01
    np.testing.assert_allclose(drawn[drawn > 0], 1 / 0.7, rtol=1e-5)


@pytest.mark.slow
def test_dropout_follows_the_seeds_eager_compiled_and_with_unknown_shapes() -> None:
    layer = make(dropout=0.4, recurrent_dropout=0.4)
    generators = [v for v in layer.variables if v.name == "seed_generator_state"]
    assert len(generators) == 2
    seeds = [tf.constant([5, 1024 * i], tf.int64) for i in range(2)]

    def run(x: Any, mask: Any, *seeds: Any) -> list[Any]:
        values = [v.value + 0.0 for v in layer.trainable_variables]
        mapping = [*zip(layer.trainable_variables, values, strict=True)]
        mapping += zip(generators, seeds, strict=True)
        with tf.GradientTape() as tape:
            tape.watch(values)
            with keras.StatelessScope(state_mapping=mapping):
                outputs, (h, c) = layer(x, mask, training=True)
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(h * c)
        return [outputs, h, c, *tape.gradient(loss, values)]

    expected = run(X, MASK, *seeds)
    assert np.abs(expected[0] - layer(X, MASK)[0]).max() > 0.01
    specs = [tf.TensorSpec((None, None, D)), tf.TensorSpec((None, None), tf.bool)]
    specs += [tf.TensorSpec((2,), tf.int64)] * 2
    for xla in (None, True):
        inner = traced(run, jit_compile=xla)
        outer = traced(lambda *a, inner=inner: inner(*a), input_signature=specs)
        if xla:
            # XLA has a random generator of its own: other masks, which are the same at every call.
            expected = inner(X, MASK, *seeds)
        for function in (inner, outer):
            for one, other in zip(function(X, MASK, *seeds), expected, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)
        others = inner(X, MASK, *(seed + 1 for seed in seeds))
        assert np.abs(others[0] - expected[0]).max() > 0.01


def test_mixed_precision_keeps_the_state_in_float32() -> None:
    layer = make("mixed_bfloat16", dropout=0.2, recurrent_dropout=0.2)
    exact = make()
    outputs, state = layer(X, MASK, initial_state=STATE)
    assert outputs.dtype == tf.bfloat16
    assert [part.dtype for part in state] == [tf.float32] * 2
    expected, _ = exact(X, MASK, initial_state=STATE)
    np.testing.assert_allclose(tf.cast(outputs, tf.float32), expected, atol=0.03)
    dropped, _ = traced(lambda: layer(X, MASK, training=True))()
    assert np.isfinite(tf.cast(dropped, tf.float32)).all()
    output, stepped = layer.step(X[:, 0], STATE)
    assert output.dtype == tf.bfloat16 and stepped[1].dtype == tf.float32
    np.testing.assert_allclose(tf.cast(output - outputs[:, 0], tf.float32), 0.0, atol=0.02)


UNDER_JAX = """
import os, sys
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.modules["tensorflow"] = None
import jax, keras, numpy as np
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.ops.recurrent import lstm_step, scan

given, found = dict(np.load(sys.argv[1])), {}
for backwards in (0, 1):
    layer = LSTM(units=5, go_backwards=bool(backwards))
    layer.build((None, None, 4))
    for variable in layer.trainable_variables:
        variable.assign(given[variable.name])

    def loss(values):
        kernel, recurrent, bias = values
        outputs, (h, c) = scan(
            lambda x, state: lstm_step(x, state, recurrent, given["state_mask"]),
            (given["x"] * given["input_mask"]) @ kernel + bias,
            (given["h"], given["c"]),
            mask=given["mask"],
            reverse=bool(backwards),
        )
        return (outputs**2).sum() + (h * c).sum(), (outputs, h, c)

    values = [variable.value for variable in layer.trainable_variables]
    (_, parts), gradients = jax.jit(jax.value_and_grad(loss, has_aux=True))(values)
    plain, _ = jax.jit(lambda x, mask: layer(x, mask))(given["x"], given["mask"])
    for i, part in enumerate([*parts, *gradients, plain]):
        found[f"{backwards}/{i}".replace("/", "|")] = part
np.savez(sys.argv[2], **found)
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_the_same_under_jax_with_the_same_masks(tmp_path: pathlib.Path) -> None:
    weights = {v.name: np.asarray(v) for v in make().trainable_variables}
    input_mask = RNG.integers(0, 2, X.shape).astype("float32") * 2
    state_mask = RNG.integers(0, 2, (B, U)).astype("float32") * 2
    np.savez(
        tmp_path / "given.npz",
        x=X,
        mask=MASK,
        h=STATE[0],
        c=STATE[1],
        input_mask=input_mask,
        state_mask=state_mask,
        **weights,
    )
    done = subprocess.run(
        [sys.executable, "-c", UNDER_JAX, *map(str, (tmp_path / "given.npz", tmp_path / "o.npz"))],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"},
    )
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "o.npz")
    for backwards in (0, 1):
        layer = make(go_backwards=bool(backwards))
        values = [v.value + 0.0 for v in layer.trainable_variables]
        kernel, recurrent, bias = values
        with tf.GradientTape() as tape:
            tape.watch(values)
            outputs, (h, c) = scan(
                lambda x, state, w=recurrent: lstm_step(x, state, w, state_mask),
                (X * input_mask) @ kernel + bias,
                STATE,
                mask=MASK,
                reverse=bool(backwards),
            )
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(h * c)
        parts = [outputs, h, c, *tape.gradient(loss, values), layer(X, MASK)[0]]
        for i, part in enumerate(parts):
            np.testing.assert_allclose(found[f"{backwards}|{i}"], part, atol=2e-5)
