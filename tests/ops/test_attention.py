import warnings

import keras
import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf
from keras import ops

from t2t_phrase.compile import compiled, traced
from t2t_phrase.ops.attention import (
    attention_context,
    attention_logits,
    attention_weights,
    heads_product,
    merge_heads,
    split_heads,
    split_key_heads,
    split_value_heads,
)


def test_heads_are_consecutive_slices_of_the_width() -> None:
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    split = np.asarray(split_heads(x, 2))
    assert split.shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(split[1, 2, 1], x[1, 2, 2:])
    np.testing.assert_array_equal(split_value_heads(x, 2)[1, 1, 2], x[1, 2, 2:])
    np.testing.assert_array_equal(split_key_heads(x, 2)[1, 1, :, 2], x[1, 2, 2:])
    np.testing.assert_array_equal(merge_heads(split), x)


@pytest.mark.parametrize("form", ["eager", "unknown length", "xla"])
def test_logits_and_context_equal_loops(form: str) -> None:
    rng = np.random.default_rng(1)
    query = rng.normal(size=(2, 3, 2, 4)).astype("float32")
    key = rng.normal(size=(2, 2, 4, 5)).astype("float32")
    value = rng.normal(size=(2, 2, 5, 4)).astype("float32")
    weights = rng.random((2, 2, 3, 5)).astype("float32")
    products = [attention_logits, attention_context]
    if form == "xla":
        products = [compiled(product, xla=True) for product in products]
    if form == "unknown length":
        unknown = tf.TensorSpec([None] * 4)
        queries = tf.TensorSpec([2, None, 2, 4])
        signatures = [[queries, unknown], [unknown, tf.TensorSpec(value.shape)]]
        products = [
            traced(product, input_signature=signature)
            for product, signature in zip(products, signatures, strict=True)
        ]
    logits, context = (
        np.asarray(product(*map(tf.constant, given)))
        for product, given in zip(products, [(query, key), (weights, value)], strict=True)
    )
    for b, t, h in np.ndindex(2, 3, 2):
        for s in range(5):
            expected = query[b, t, h] @ key[b, h, :, s]
            np.testing.assert_allclose(logits[b, h, t, s], expected, atol=1e-5)
        expected = sum(weights[b, h, t, s] * value[b, h, s] for s in range(5))
        np.testing.assert_allclose(context[b, t, h], expected, atol=1e-5)


def test_weights_are_a_softmax_over_what_is_visible() -> None:
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(1, 1, 4, 4)).astype("float32")
    mask = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1]], bool)
    weights = np.asarray(attention_weights(logits, mask[None, None]))[0, 0]
    for row in range(4):
        expected = np.zeros(4)
        expected[mask[row]] = reference.softmax(logits[0, 0, row][mask[row]].tolist())
        np.testing.assert_allclose(weights[row], expected, atol=1e-6)
    free = np.asarray(attention_weights(logits, None))[0, 0]
    np.testing.assert_allclose(free[0], reference.softmax(logits[0, 0, 0].tolist()), atol=1e-6)


def test_a_row_with_nothing_to_attend_to_gives_zeros_and_no_gradient() -> None:
    logits = tf.constant([[[[1.0, 2.0], [3.0, 4.0]]]])
    mask = np.array([[[[False, False], [True, False]]]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        weights = attention_weights(logits, mask)
        loss = tf.reduce_sum(weights * tf.constant([[0.3, 0.1], [2.0, 1.0]]))
    np.testing.assert_array_equal(weights[0, 0], [[0, 0], [1, 0]])
    np.testing.assert_array_equal(tape.gradient(loss, logits)[0, 0, 0], [0, 0])


@pytest.mark.parametrize("floatx", ["float16", "float64"])
def test_the_default_type_of_keras_does_not_matter(floatx: str) -> None:
    logits, mask = np.zeros((1, 1, 1, 2), "float32"), np.array([True, False])
    keras.config.set_floatx(floatx)
    try:
        found = attention_weights(logits, mask)
    finally:
        keras.config.set_floatx("float32")
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, [[[[1, 0]]]])


def test_extreme_logits_stay_finite() -> None:
    logits = np.array([[[[1e5, -1e5, 3e4], [-1e5, -1e5, 1e5], [-1e6, 0, 0]]]], "float32")
    mask = np.array([True, True, False])[None, None, None]
    weights = np.asarray(attention_weights(logits, mask))[0, 0]
    np.testing.assert_allclose(weights, [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0]], atol=1e-6)


def test_the_softmax_of_bfloat16_logits_runs_in_float32() -> None:
    logits = ops.cast(np.random.default_rng(3).normal(size=(1, 1, 2, 300)), "bfloat16")
    weights = attention_weights(logits, None)
    assert weights.dtype == tf.float32
    np.testing.assert_allclose(ops.sum(weights, -1), 1.0, atol=1e-5)


def test_each_head_has_its_own_map() -> None:
    rng = np.random.default_rng(0)
    x, maps = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 2, 5))
    output = np.asarray(heads_product(x.astype("float32"), maps.astype("float32")))
    assert output.shape == (2, 2 * 3, 5)
    for b, head, position in np.ndindex(2, 2, 3):
        own = x[b, position, 2 * head : 2 * head + 2]
        np.testing.assert_allclose(output[b, 3 * head + position], own @ maps[head], atol=1e-6)


@pytest.mark.parametrize("mask", [None, np.array([[[[True]]], [[[False]]]])])
def test_a_single_position_gives_no_warning(mask: np.ndarray | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = attention_weights(ops.zeros((2, 1, 3, 1)), mask)
    expected = np.ones((2, 1, 3, 1)) if mask is None else np.repeat(mask, 3, axis=2)
    np.testing.assert_array_equal(weights, expected)
