"""Mean, max and attentive pooling against loops over phrases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import reference_phrase_representation as reference
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.segments.attentive_pooling import AttentivePooling
from t2t_phrase.layers.segments.max_pooling import MaxPooling
from t2t_phrase.layers.segments.mean_pooling import MeanPooling
from t2t_phrase.ops.partition import segment_membership

D, UNITS = 6, 5
# Phrases of 3, 2 and 1 tokens; one over a whole sentence; one token alone.
NUMBERS = np.array([[1, 1, 1, 2, 2, 3], [1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0]])
MEMBERSHIP = np.asarray(segment_membership(NUMBERS, 4))
X = np.random.default_rng(0).normal(size=(3, 6, D)).astype("float32")


def make(kind: str, attentive: bool, dtype: str = "float32") -> keras.layers.Layer:
    glance = MeanPooling(dtype=dtype) if kind == "mean" else MaxPooling(longest=5, dtype=dtype)
    if not attentive:
        return glance
    return AttentivePooling(glance=glance, hidden_size=D, units=UNITS, dtype=dtype)


def weights_of(layer: keras.layers.Layer) -> dict[str, np.ndarray]:
    return {
        "/".join(variable.path.split("/")[-2:]): np.asarray(variable, "float64")
        for variable in layer.trainable_variables
    }


@pytest.mark.parametrize("attentive", [False, True])
@pytest.mark.parametrize("kind", ["mean", "max"])
def test_phrases_equal_loops_and_weights_are_distributions(kind: str, attentive: bool) -> None:
    layer = make(kind, attentive)
    layer.build(X.shape)
    randomize(layer)
    phrases, weights = layer(X, MEMBERSHIP)
    assert phrases.shape == (3, 4, D)
    assert weights.shape == (3, 4, 6)
    for b, p in np.ndindex(3, 4):
        rows = [X[b, s].astype("float64") for s in range(6) if MEMBERSHIP[b, p, s]]
        if not rows:
            np.testing.assert_array_equal(phrases[b, p], np.zeros(D))
            np.testing.assert_array_equal(weights[b, p], np.zeros(6))
            continue
        if attentive:
            expected = reference.attentive(rows, kind, weights_of(layer))
        else:
            expected = reference.glance(rows, kind)
        np.testing.assert_allclose(phrases[b, p], expected, atol=1e-5)
        np.testing.assert_allclose(np.sum(weights[b, p]), 1, atol=1e-6)
        np.testing.assert_array_equal(np.asarray(weights[b, p])[~MEMBERSHIP[b, p]], 0)


@pytest.mark.parametrize("kind", [pytest.param("mean", marks=pytest.mark.slow), "max"])
def test_contract_of_attentive_pooling(check_layer: Callable, kind: str) -> None:
    check_layer(
        lambda dtype: make(kind, True, dtype),
        [X, MEMBERSHIP],
        weights=2 * D * UNITS + UNITS + UNITS,
    )


@pytest.mark.parametrize("kind", ["mean", "max"])
def test_poolings_without_weights_survive_their_config_and_bfloat16(kind: str) -> None:
    layer = make(kind, False)
    config = json.loads(json.dumps(layer.get_config()))
    copy = type(layer).from_config(config)
    assert copy.get_config() == layer.get_config()
    np.testing.assert_array_equal(copy(X, MEMBERSHIP)[0], layer(X, MEMBERSHIP)[0])
    mixed, weights = make(kind, False, "mixed_bfloat16")(X, MEMBERSHIP)
    assert (mixed.dtype, weights.dtype) == (tf.bfloat16, tf.float32)
    np.testing.assert_allclose(
        tf.cast(mixed, tf.float32), layer(X, MEMBERSHIP)[0], atol=0.02, rtol=0.02
    )


@pytest.mark.parametrize("attentive", [False, True])
@pytest.mark.parametrize("kind", ["mean", "max"])
def test_gradients_equal_differences(kind: str, attentive: bool) -> None:
    layer = make(kind, attentive)
    layer.build(X.shape)
    randomize(layer)
    rng = np.random.default_rng(1)
    scale, step = rng.normal(size=(3, 4, D)), rng.normal(size=X.shape)

    def value(x: np.ndarray) -> Any:
        return tf.reduce_sum(layer(x, MEMBERSHIP)[0] * scale.astype("float32"))

    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        result = value(x)
    slope = np.sum(np.asarray(tape.gradient(result, x)) * step)
    small = 1e-2
    forward, back = (value((X + sign * small * step).astype("float32")) for sign in (1, -1))
    np.testing.assert_allclose(slope, (forward - back) / (2 * small), rtol=0.02, atol=0.02)


def test_padding_is_never_read() -> None:
    layer = make("max", True)
    layer.build(X.shape)
    randomize(layer)
    moved = np.where(NUMBERS[..., None] > 0, X, 100.0).astype("float32")
    np.testing.assert_array_equal(layer(moved, MEMBERSHIP)[0], layer(X, MEMBERSHIP)[0])
