"""Pooling by doubling steps and matrix products against loops over phrases."""

import numpy as np
import pytest
import tensorflow as tf
from reference_phrase_representation import glance

from t2t_phrase.compile import traced
from t2t_phrase.ops.partition import segment_membership
from t2t_phrase.ops.segment_pooling import max_shares, mean_weights, segment_max, weighted_sum

# Phrases of 1 to 9 tokens, one over a whole sentence, one token alone, a row of padding.
NUMBERS = np.array(
    [
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3],
        [1] * 12,
        [1, 2, 3, 3, 3, 3, 3, 4, 4, 4, 0, 0],
        [1] + [0] * 11,
        [0] * 12,
    ]
)
MEMBERSHIP = np.asarray(segment_membership(NUMBERS, 5))
X = np.random.default_rng(0).normal(size=(5, 12, 7)).astype("float32")


def by_loops(x: np.ndarray, kind: str) -> np.ndarray:
    out = np.zeros((5, 5, 7))
    for b, p in np.ndindex(5, 5):
        rows = [x[b, s].astype("float64") for s in range(12) if MEMBERSHIP[b, p, s]]
        if rows:
            out[b, p] = glance(rows, kind)
    return out


def test_means() -> None:
    pooled = weighted_sum(mean_weights(MEMBERSHIP), X)
    np.testing.assert_allclose(pooled, by_loops(X, "mean"), atol=1e-6)


@pytest.mark.parametrize("longest", [None, 12, 30])
@pytest.mark.parametrize("xla", [False, True])
def test_maxima_and_their_gradient(xla: bool, longest: int | None) -> None:
    scale = np.random.default_rng(1).normal(size=(5, 5, 7)).astype("float32")

    @tf.function(jit_compile=xla)
    def run(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            pooled = segment_max(x, MEMBERSHIP, longest=longest)
            loss = tf.reduce_sum(pooled * scale)
        return pooled, tape.gradient(loss, x)

    pooled, gradient = run(tf.constant(X))
    np.testing.assert_array_equal(pooled, by_loops(X, "max"))
    expected = np.zeros_like(X)
    for b, p, d in np.ndindex(5, 5, 7):
        tokens = np.flatnonzero(MEMBERSHIP[b, p])
        if len(tokens):
            expected[b, tokens[X[b, tokens, d].argmax()], d] += scale[b, p, d]
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_three_steps_do_for_phrases_of_eight() -> None:
    membership = segment_membership(np.array([[1] * 8 + [2] * 3]), 2)
    x = np.zeros((1, 11, 1), "float32")
    x[0, 0], x[0, 10] = 5, 3
    assert np.ravel(segment_max(x, membership, longest=8)).tolist() == [5, 3]


def test_sentences_of_unknown_length() -> None:
    run = traced(
        segment_max,
        input_signature=[
            tf.TensorSpec((None, None, 7)),
            tf.TensorSpec((None, None, None), tf.bool),
        ],
    )
    np.testing.assert_array_equal(run(X, MEMBERSHIP), by_loops(X, "max"))


def test_tokens_that_share_the_largest_value_share_its_gradient() -> None:
    x = tf.constant([[[2.0], [1.0], [2.0]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        pooled = segment_max(x, np.ones((1, 1, 3), bool), longest=3)
    np.testing.assert_array_equal(np.ravel(tape.gradient(pooled, x)), [0.5, 0, 0.5])
    shares = max_shares(x, pooled, np.ones((1, 1, 3), bool))
    np.testing.assert_array_equal(np.ravel(shares), [0.5, 0, 0.5])


def test_shares_count_the_dimensions_a_token_wins() -> None:
    shares = np.asarray(max_shares(X, segment_max(X, MEMBERSHIP), MEMBERSHIP))
    for b, p in np.ndindex(5, 5):
        tokens = np.flatnonzero(MEMBERSHIP[b, p])
        if len(tokens):
            won = np.bincount(tokens[X[b, tokens].argmax(0)], minlength=12) / 7
            np.testing.assert_allclose(shares[b, p], won, atol=1e-6)
        else:
            np.testing.assert_array_equal(shares[b, p], 0)
