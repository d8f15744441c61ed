"""The convolution of n-grams against loops and against other ways to compute it."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.ops.ngrams import shift, unfold, unfold_latest
from t2t_phrase.ops.product import product

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, 3)).astype("float32")
ORDERS = [1, 2, 3, 6]


def kernel_of(order: int) -> np.ndarray:
    return RNG.normal(size=(order, 3, 4)).astype("float32")


def by_loops(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    order = len(kernel)
    out = np.zeros((*x.shape[:2], kernel.shape[2]))
    for b, j in np.ndindex(*x.shape[:2]):
        for t in range(order):
            if j - order + 1 + t >= 0:
                out[b, j] += x[b, j - order + 1 + t].astype("float64") @ kernel[t]
    return out


def shifted_products(x: Any, kernel: Any) -> Any:
    """Move the tokens, multiply each by its matrix, add."""
    order, length = kernel.shape[0], x.shape[1]
    padded = tf.pad(x, [[0, 0], [order - 1, 0], [0, 0]])
    return tf.add_n([padded[:, t : t + length] @ kernel[t] for t in range(order)])


def products_shifted(x: Any, kernel: Any) -> Any:
    """Multiply all tokens by all matrices in one product, move the results, add."""
    order, length = kernel.shape[0], x.shape[1]
    joint = x @ tf.reshape(tf.transpose(kernel, (1, 0, 2)), (x.shape[2], -1))
    parts = tf.split(joint, order, axis=-1)
    return tf.add_n(
        [
            tf.pad(part, [[0, 0], [order - 1 - t, 0], [0, 0]])[:, :length]
            for t, part in enumerate(parts)
        ]
    )


def tensorflows_convolution(x: Any, kernel: Any) -> Any:
    """Let TensorFlow convolve the tokens."""
    padded = tf.pad(x, [[0, 0], [kernel.shape[0] - 1, 0], [0, 0]])
    return tf.nn.conv1d(padded, kernel, stride=1, padding="VALID")


def ngram_conv(x: Any, kernel: Any) -> Any:
    return product(unfold(x, kernel.shape[0]), kernel)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "way", [ngram_conv, shifted_products, products_shifted, tensorflows_convolution]
)
def test_every_way_equals_loops(way: Callable[..., Any], order: int) -> None:
    kernel = kernel_of(order)
    np.testing.assert_allclose(way(tf.constant(X), kernel), by_loops(X, kernel), atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_gradients_are_those_of_shifted_products(order: int) -> None:
    kernel = kernel_of(order)
    upstream = RNG.normal(size=(2, 5, 4)).astype("float32")

    def gradients(way: Callable[..., Any]) -> list[Any]:
        arguments = [tf.constant(X), tf.constant(kernel)]
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            result = way(*arguments)
        return tape.gradient(result, arguments, output_gradients=upstream)

    for ours, theirs in zip(gradients(ngram_conv), gradients(shifted_products), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_windows_of_four_tokens() -> None:
    x = np.array([[[1.0], [2.0], [3.0], [4.0]]], "float32")
    assert unfold(x, 1) is x
    expected = [[0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]
    np.testing.assert_array_equal(unfold(x, 3)[0], expected)


def test_windows_of_heads_stay_within_their_head() -> None:
    x = RNG.normal(size=(1, 2, 4, 3)).astype("float32")
    windows = unfold(x, 2)
    assert windows.shape == (1, 2, 4, 6)
    np.testing.assert_array_equal(windows[0, 1, 3], np.concatenate([x[0, 1, 2], x[0, 1, 3]]))


def test_the_latest_window_is_the_last_of_all() -> None:
    for order in (1, 2, 3):
        np.testing.assert_array_equal(
            unfold_latest(X[:, None, 2:], order)[:, 0], unfold(X, order)[:, -1]
        )


def test_sentences_of_unknown_length() -> None:
    kernel = kernel_of(3)

    @tf.function(input_signature=[tf.TensorSpec((None, None, 3))])
    def run(x: Any) -> Any:
        return ngram_conv(x, kernel), unfold(x, 2)

    for length in (1, 5):
        convolved, windows = run(X[:, :length])
        np.testing.assert_allclose(convolved, by_loops(X[:, :length], kernel), atol=1e-5)
        np.testing.assert_array_equal(windows, unfold(X[:, :length], 2))


@pytest.mark.parametrize("steps", [-7, -5, -2, 0, 1, 4, 5, 7])
def test_shift_moves_tokens(steps: int) -> None:
    expected = np.zeros_like(X)
    for j in range(X.shape[1]):
        if 0 <= j - steps < X.shape[1]:
            expected[:, j] = X[:, j - steps]
    np.testing.assert_array_equal(shift(tf.constant(X), steps), expected)
    unknown = traced(lambda x: shift(x, steps), input_signature=[tf.TensorSpec((None, None, None))])
    np.testing.assert_array_equal(unknown(X), expected)
    assert unknown(X[:, :0]).shape == (2, 0, 3)


@pytest.mark.parametrize("order", ORDERS)
def test_windows_of_a_row_of_two_sentences_are_those_of_each(order: int) -> None:
    places = np.array([[0, 1, 2, 0, 1], [0, 0, 1, 2, 3]])
    found = np.asarray(unfold(X, order, places))
    np.testing.assert_array_equal(found[:1, :3], unfold(X[:1, :3], order))
    np.testing.assert_array_equal(found[:1, 3:], unfold(X[:1, 3:], order))
    np.testing.assert_array_equal(found[1:, 1:], unfold(X[1:, 1:], order))


def test_symbolic_lengths_are_shifted_on_jax() -> None:
    program = """
import os
os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
import keras
import numpy as np
import t2t_phrase
from t2t_phrase.ops.ngrams import shift

x = keras.Input((None, 8))
layer = t2t_phrase.layers.HeterogeneousConvKV(num_heads=2, hidden_size=8, orders=(1, 2))
y, _ = layer(x, x)
assert y.shape == (None, None, 8)
values = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")
np.testing.assert_allclose(keras.Model(x, y)(values), layer(values, values)[0], atol=1e-6)
for steps in range(-6, 7):
    rows = np.zeros_like(values)
    if abs(steps) < 5:
        rows[:, max(steps, 0) : 5 + min(steps, 0)] = values[:, max(-steps, 0) : 5 - max(steps, 0)]
    np.testing.assert_array_equal(shift(values, steps), rows)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
