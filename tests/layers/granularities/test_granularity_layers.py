"""What every layer owes, for all layers of multi-granularity self-attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.layers.granularities.attention_composition import AttentionComposition
from t2t_phrase.layers.granularities.head_dense import HeadDense
from t2t_phrase.layers.granularities.head_lstm import HeadLSTM
from t2t_phrase.layers.granularities.head_on_lstm import HeadONLSTM
from t2t_phrase.layers.granularities.lstm_composition import LSTMComposition
from t2t_phrase.layers.granularities.max_composition import MaxComposition
from t2t_phrase.layers.granularities.multi_granularity_attention import MultiGranularityAttention
from t2t_phrase.layers.granularities.tag_classifier import TagClassifier

B, G, S, W, P = 2, 3, 6, 4, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, G, S, W)).astype("float32")
NUMBERS = np.array([[1, 1, 2, 3, 3, 3], [1, 2, 2, 0, 0, 0]])
# (B, P, S)
MEMBERSHIP = NUMBERS[:, None] == np.arange(1, P + 1)[:, None]
OF_HEADS = np.repeat(MEMBERSHIP[:, None], G, axis=1)
GATES = 4 * W


@pytest.mark.parametrize(
    ("layer", "options", "inputs", "weights"),
    [
        (HeadDense, {"units": 5}, [X], G * W * 5),
        pytest.param(HeadLSTM, {}, [X], G * GATES * (2 * W + 1), marks=pytest.mark.slow),
        (HeadONLSTM, {"chunk_size": 2}, [X], G * (GATES + 2 * W // 2) * (2 * W + 1)),
        (AttentionComposition, {}, [X, OF_HEADS], 3 * G * W * W),
        pytest.param(
            LSTMComposition,
            {"longest": 3},
            [X, OF_HEADS],
            G * GATES * (2 * W + 1),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_contract(
    check_layer: Callable[..., None], layer: Any, options: Any, inputs: Any, weights: int
) -> None:
    check_layer(lambda dtype: layer(num_heads=G, dtype=dtype, **options), inputs, weights=weights)


@pytest.mark.parametrize("interaction", [pytest.param(False, marks=pytest.mark.slow), True])
def test_contract_of_the_attention(check_layer: Callable[..., None], interaction: bool) -> None:
    width = G * W + W

    def make(dtype: str) -> MultiGranularityAttention:
        recurrence: keras.layers.Layer | None = None
        if interaction:
            recurrence = HeadLSTM(num_heads=G, dtype=dtype, name="interaction")
        return MultiGranularityAttention(
            hidden_size=width,
            heads=("tokens", "one", "one", "other"),
            partitions=("other", "one"),
            composition=MaxComposition(num_heads=G, dtype=dtype),
            interaction=recurrence,
            dtype=dtype,
        )

    x = RNG.normal(size=(B, S, width)).astype("float32")
    membership = np.stack([MEMBERSHIP, np.eye(S, dtype=bool)[None, :P].repeat(B, 0)], axis=1)
    maps = 2 * width * width + 2 * width * W + width * G * W + 2 * G * W * W
    check_layer(make, [x, membership], weights=maps + interaction * G * GATES * (2 * W + 1))


def test_the_longest_segment_bounds_the_work_not_the_result() -> None:
    bounded, free = (LSTMComposition(num_heads=G, longest=n) for n in (3, None))
    expected = bounded(X, OF_HEADS)
    free.build((B, G, S, W))
    free.set_weights(bounded.get_weights())
    np.testing.assert_allclose(free(X, OF_HEADS), expected, atol=1e-6)
    assert (np.asarray(expected)[1, :, 2] == 0).all(), "a row without tokens gives zeros"


def test_heads_do_not_mix() -> None:
    layer = HeadONLSTM(num_heads=G, chunk_size=2)
    before = np.asarray(layer(X))
    other = X.copy()
    other[:, 1] += 1
    after = np.asarray(layer(other))
    np.testing.assert_array_equal(after[:, [0, 2]], before[:, [0, 2]])
    assert np.abs(after[:, 1] - before[:, 1]).max() > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": ("tokens", "one", "one")}, "hidden_size must be a multiple of the number of"),
        ({"heads": ("one", "tokens")}, "heads that attend to tokens must come first"),
        ({"heads": ("one", "two")}, r"unknown partitions \['two'\]; the partitions are \['one'\]"),
        ({"heads": ("tokens", "tokens")}, "no head attends to segments"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiGranularityAttention(
            hidden_size=8, partitions=("one",), composition=MaxComposition(num_heads=1), **options
        )
    with pytest.raises(ValueError, match="and at least twice as large, got 4 and 3"):
        HeadONLSTM(num_heads=1, chunk_size=3).build((None, 1, None, 4))


def test_the_maximum_of_each_segment() -> None:
    found = np.asarray(MaxComposition(num_heads=G)(X, OF_HEADS))
    for sentence, segments in enumerate([[[0, 1], [2], [3, 4, 5]], [[0], [1, 2]]]):
        for row, segment in enumerate(segments):
            expected = X[sentence][:, segment].max(axis=1)
            np.testing.assert_array_equal(found[sentence, :, row], expected)


@pytest.mark.parametrize("layer", [MaxComposition, LSTMComposition, AttentionComposition])
def test_padding_that_holds_nan_does_not_spread(layer: Any) -> None:
    composition = layer(num_heads=G)
    expected = np.asarray(composition(X, OF_HEADS))
    padding = ~OF_HEADS.any(axis=2)
    assert padding.any()
    spoilt = np.where(padding[..., None], np.nan, X).astype("float32")
    np.testing.assert_array_equal(np.asarray(composition(spoilt, OF_HEADS)), expected)
    with tf.GradientTape() as tape:
        x = tf.convert_to_tensor(spoilt)
        tape.watch(x)
        loss = tf.reduce_sum(composition(x, OF_HEADS) ** 2)
    values = [variable.value for variable in composition.trainable_variables]
    gradients = tape.gradient(loss, [x, *values])
    assert all(np.isfinite(np.asarray(gradient)).all() for gradient in gradients)


@pytest.mark.parametrize(("layer", "options"), [(HeadLSTM, {}), (HeadONLSTM, {"chunk_size": 2})])
def test_a_sequence_that_begins_within_a_row_begins_at_zero(layer: Any, options: Any) -> None:
    lstm = layer(num_heads=G, **options)
    lstm.build(X.shape)
    continues = np.ones((B, G, S), bool)
    continues[:, 1, 2] = continues[:, 2, :2] = False
    found = np.asarray(lstm(X, continues=continues))
    whole, cut = np.asarray(lstm(X)), np.asarray(lstm(X[:, :, 2:]))
    np.testing.assert_allclose(found[:, 0], whole[:, 0], atol=1e-6)
    np.testing.assert_allclose(found[:, 1, :2], whole[:, 1, :2], atol=1e-6)
    np.testing.assert_allclose(found[:, 1, 2:], cut[:, 1], atol=1e-6)
    np.testing.assert_allclose(found[:, 2, 1:], np.asarray(lstm(X[:, :, 1:]))[:, 2], atol=1e-6)
    assert np.abs(found[:, 1, 2:] - whole[:, 1, 2:]).max() > 1e-3


def test_each_head_starts_as_a_dense_map_of_its_own() -> None:
    """Uniform with a variance of 1 over the mean of a head's inputs and outputs."""
    layer = HeadDense(num_heads=6, units=60)
    layer.build((None, 6, None, 40))
    kernel = np.asarray(layer.kernel)
    assert abs(kernel.var() * 50 - 1) < 0.05
    assert np.abs(kernel).max() <= np.sqrt(3 / 50) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("layer", "options", "masters"), [(HeadLSTM, {}, 0), (HeadONLSTM, {"chunk_size": 2}, W)]
)
def test_the_forget_gates_start_open(layer: Any, options: Any, masters: int) -> None:
    lstm = layer(num_heads=G, **options)
    lstm.build(X.shape)
    # Master gates come first, then input gate, forget gate, candidate and output gate.
    expected = [*[0] * (masters + W), *[1] * W, *[0] * (2 * W)]
    np.testing.assert_array_equal(lstm.bias, [expected] * G)


def test_the_gradient_of_biases_of_labels_is_summed_in_float32() -> None:
    classifier = TagClassifier(
        heads=("level",), partitions=("level",), classes=2, dtype="mixed_bfloat16"
    )
    classifier.build((None, 1, None, W))
    bias = classifier.maps[0].bias
    with tf.GradientTape() as tape:
        logits = classifier(tf.zeros((128, 1, 32, W)))["level"]
        loss = 0.01 * tf.reduce_sum(logits)
    np.testing.assert_allclose(tape.gradient(loss, bias.value), 2 * [40.96], rtol=0.01)
