from collections.abc import Callable

import numpy as np
import pytest
import reference_phrase_representation as reference
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination

D, H, UNITS = 8, 2, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, D)).astype("float32")
SEGMENTS = RNG.normal(size=(2, 3, D)).astype("float32")
MASK = np.array([[True, True, True], [True, False, False]])[:, None, None]


def make(
    dtype: str = "float32", dropout: float = 0.0, inner: float = 0.0, by_segment: bool = False
) -> AttentiveCombination:
    return AttentiveCombination(
        attention=MultiHeadAttention(
            num_heads=H, hidden_size=D, dropout=dropout, name="attention", dtype=dtype
        ),
        hidden_size=D,
        units=UNITS,
        by_segment=by_segment,
        dropout=inner,
        dtype=dtype,
    )


@pytest.mark.parametrize("by_segment", [False, True])
def test_tokens_find_what_the_loops_find(by_segment: bool) -> None:
    layer = make(by_segment=by_segment)
    layer.build(X.shape, SEGMENTS.shape)
    randomize(layer)
    output, weights = layer(X, SEGMENTS, segment_mask=MASK)
    assert weights.shape == (2, H, 5, 3)
    paths = {v.path.split("/", 1)[1]: np.asarray(v, "float64") for v in layer.trainable_variables}
    for b, count in enumerate((3, 1)):
        x, phrases = (list(rows.astype("float64")) for rows in (X[b], SEGMENTS[b, :count]))
        expected = reference.combine(x, phrases, paths, H)
        np.testing.assert_allclose(output[b], expected, atol=1e-5)


@pytest.mark.parametrize("by_segment", [pytest.param(False, marks=pytest.mark.slow), True])
def test_contract(check_layer: Callable, by_segment: bool) -> None:
    check_layer(
        lambda dtype: make(dtype, by_segment=by_segment),
        [X, SEGMENTS],
        weights=4 * D * D + 2 * D * UNITS + UNITS + UNITS * D + D,
        options={"segment_mask": MASK},
    )


@pytest.mark.parametrize("mask", [MASK, None], ids=["masked", "unmasked"])
def test_segment_by_segment_equals_token_by_token(mask: np.ndarray | None) -> None:
    """Outputs, attention weights, and the gradients of all variables and inputs."""
    results = []
    target = np.random.default_rng(1).normal(size=X.shape)
    for by_segment in (False, True):
        layer = make(by_segment=by_segment)
        layer.build(X.shape, SEGMENTS.shape)
        randomize(layer)
        inputs = [tf.constant(X), tf.constant(SEGMENTS)]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            output, weights = layer(*inputs, mask)
            loss = tf.reduce_sum(output * target)
        variables = [v.value for v in layer.trainable_variables]
        names = [*(v.path.split("/", 1)[1] for v in layer.trainable_variables), "x", "segments"]
        gradients = dict(zip(names, tape.gradient(loss, [*variables, *inputs]), strict=True))
        results.append({"output": output, "weights": weights, **gradients})
    plain, other = results
    assert plain.keys() == other.keys()
    for name in plain:
        assert np.abs(plain[name]).max() > 1e-3, name
        np.testing.assert_allclose(plain[name], other[name], atol=2e-5, rtol=1e-4, err_msg=name)


@pytest.mark.parametrize("by_segment", [False, True])
def test_a_memory_prepared_once_gives_the_same(by_segment: bool) -> None:
    layer = make(by_segment=by_segment)
    expected, _ = layer(X, SEGMENTS, segment_mask=MASK)
    projected = layer.project_memory(SEGMENTS)
    for t in range(5):
        step, _ = layer.attend(X[:, t : t + 1], projected, MASK)
        np.testing.assert_allclose(step[:, 0], expected[:, t], atol=1e-6)


@pytest.mark.parametrize("by_segment", [False, True])
def test_weights_folded_once_give_the_same(by_segment: bool) -> None:
    layer = make(by_segment=by_segment)
    expected, _ = layer(X, SEGMENTS, segment_mask=MASK)
    folded = layer.fold()
    np.testing.assert_array_equal(layer(X, SEGMENTS, segment_mask=MASK, folded=folded)[0], expected)
    if by_segment:
        # They are what is read, and the maps they are made of are not read again.
        layer.segment_map.kernel.assign(0 * layer.segment_map.kernel)
        same, _ = layer(X, SEGMENTS, segment_mask=MASK, folded=folded)
        np.testing.assert_array_equal(same, expected)
    else:
        assert folded == {}


def test_the_two_halves_start_as_wide_as_one_matrix_would() -> None:
    layer = AttentiveCombination(
        attention=MultiHeadAttention(num_heads=2, hidden_size=64), hidden_size=64, units=192
    )
    layer.build((None, None, 64))
    limit = np.sqrt(3 / ((2 * 64 + 192) / 2))
    for dense in (layer.token_map, layer.segment_map):
        largest = np.abs(dense.kernel).max()
        assert 0.99 * limit < largest <= limit


def test_a_new_layer_adds_nothing_that_all_tokens_share() -> None:
    layer = AttentiveCombination(
        attention=MultiHeadAttention(num_heads=2, hidden_size=64), hidden_size=64, units=192
    )
    layer.build((None, None, 64))
    x = np.random.default_rng(1).normal(size=(1, 500, 64)).astype("float32")
    output, _ = layer(x, np.zeros((1, 1, 64), "float32"))
    assert np.abs(np.mean(output, axis=1)).max() < 0.3 * np.std(output)
    np.testing.assert_allclose(layer(0 * x, np.zeros((1, 1, 64), "float32"))[0], 0, atol=1e-5)


@pytest.mark.parametrize("by_segment", [False, True])
@pytest.mark.parametrize("where", ["weights", "inside"])
def test_dropout_acts_in_training_only(where: str, by_segment: bool) -> None:
    layer = make(
        by_segment=by_segment, **{"weights": {"dropout": 0.5}, "inside": {"inner": 0.5}}[where]
    )
    plain, _ = layer(X, SEGMENTS)
    np.testing.assert_array_equal(layer(X, SEGMENTS)[0], plain)
    assert np.abs(layer(X, SEGMENTS, training=True)[0] - plain).max() > 0


def test_dropout_acts_on_the_inputs_of_the_last_map() -> None:
    layer = make(inner=0.5)
    layer.build(X.shape, SEGMENTS.shape)
    layer.outer_map.bias.assign(np.arange(D))
    layer.inner_dropout = lambda x, training: 0 * x
    found, _ = layer(X, SEGMENTS, training=True)
    np.testing.assert_array_equal(found, np.broadcast_to(np.arange(D), X.shape))


def test_half_precision_keeps_small_answers() -> None:
    layers = [make(dtype) for dtype in ("float32", "mixed_bfloat16")]
    for layer in layers:
        layer.build(X.shape, SEGMENTS.shape)
    layers[1].set_weights(layers[0].get_weights())
    exact, rounded = (np.asarray(layer(0.01 * X, 0 * SEGMENTS)[0], "float32") for layer in layers)
    assert np.abs(rounded - exact).max() < 0.02 * np.abs(exact).max()
