"""Luong's scores: their gradients in bfloat16."""

import numpy as np
import tensorflow as tf

from t2t_phrase.ops.scores import additive_logits

WIDTH, LENGTH = 32, 40


def test_gradients_of_queries_are_not_rounding_errors() -> None:
    """The gradients of the logits sum to 0, as those of a softmax do, so that most cancels."""
    draws = np.random.default_rng(0)
    query, keys = (draws.uniform(-0.1, 0.1, (4, n, WIDTH)) for n in (3, LENGTH))
    vector = draws.uniform(-0.1, 0.1, WIDTH)
    upstream = draws.normal(size=(4, 3, LENGTH))
    upstream -= upstream.mean(-1, keepdims=True)
    rounded = [tf.cast(tf.constant(x), tf.bfloat16) for x in (query, keys, vector)]
    with tf.GradientTape() as tape:
        tape.watch(rounded)
        logits = tf.cast(additive_logits(*rounded), "float32")
        loss = tf.reduce_sum(logits * tf.cast(upstream, "float32"))
    found = tape.gradient(loss, rounded[0]).numpy().astype("float64")
    exact_query, exact_keys, exact_vector = (x.numpy().astype("float64") for x in rounded)
    expected = np.zeros_like(exact_query)
    for b, t, s in np.ndindex(*upstream.shape):
        slope = 1 - np.tanh(exact_query[b, t] + exact_keys[b, s]) ** 2
        expected[b, t] += upstream[b, t, s] * exact_vector * slope
    assert np.linalg.norm(found - expected) < 0.02 * np.linalg.norm(expected)
