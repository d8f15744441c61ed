from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf
from branching_beams import BranchingBeams
from random_weights import randomize

from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.ops.masks import causal_mask, history_mask, memory_mask

D, H = 8, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, D)).astype("float32")
MEMORY = RNG.normal(size=(2, 4, D)).astype("float32")
KINDS = ["plain", "relative"]


def make(kind: str = "plain", dtype: str = "float32", dropout: float = 0.0) -> MultiHeadAttention:
    shared: dict[str, Any] = {"num_heads": H, "hidden_size": D, "dropout": dropout, "dtype": dtype}
    if kind == "relative":
        return RelativeMultiHeadAttention(max_relative_position=2, **shared)
    return MultiHeadAttention(**shared)


@pytest.fixture(scope="module")
def attentions() -> dict[str, MultiHeadAttention]:
    made = {kind: make(kind) for kind in KINDS}
    for layer in made.values():
        layer.build((None, None, D))
        randomize(layer)
    return made


def kernels(layer: MultiHeadAttention) -> dict[str, np.ndarray]:
    found = {}
    for variable in layer.trainable_variables:
        name = variable.path.removesuffix("/kernel").split("/")[-1]
        found[name] = np.asarray(variable, "float64")
    return found


def by_loops(layer: MultiHeadAttention, query: Any, memory: Any, causal: bool = False) -> Any:
    limit = getattr(layer, "max_relative_position", 0)
    return reference.attend(
        list(query), list(memory), kernels(layer), num_heads=H, causal=causal, limit=limit
    )


def test_contract(check_layer: Callable) -> None:
    mask = np.array([True, True, True, False])
    check_layer(make, [X, MEMORY], weights=4 * D * D, options={"attention_mask": mask})


def test_contract_of_relative_attention(check_layer: Callable) -> None:
    check_layer(
        lambda dtype: make("relative", dtype),
        [X, X],
        weights=4 * D * D + 2 * 5 * (D // H),
        options={"attention_mask": causal_mask(5)},
    )


def test_attention_to_a_memory_equals_loops(attentions: dict) -> None:
    output, weights = attentions["plain"](X, MEMORY)
    assert weights.shape == (2, H, 5, 4)
    for b in range(2):
        np.testing.assert_allclose(
            output[b], by_loops(attentions["plain"], X[b], MEMORY[b]), atol=1e-5
        )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_self_attention_equals_loops(attentions: dict, kind: str, causal: bool) -> None:
    layer = attentions[kind]
    mask = causal_mask(5) if causal else None
    output, weights = layer(X, X, attention_mask=mask)
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-6)
    for b in range(2):
        np.testing.assert_allclose(output[b], by_loops(layer, X[b], X[b], causal), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(attentions: dict, kind: str) -> None:
    layer = attentions[kind]
    ids = np.array([[7, 7, 7, 0, 0], [7, 7, 7, 7, 7]])
    output, _ = layer(X, X, attention_mask=memory_mask(ids))
    np.testing.assert_allclose(output[0, :3], by_loops(layer, X[0, :3], X[0, :3]), atol=1e-5)
    other = X.copy()
    other[0, 3:] = 100
    moved, _ = layer(other, other, attention_mask=memory_mask(ids))
    np.testing.assert_array_equal(moved[0, :3], output[0, :3])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_flows_from_the_future(attentions: dict, kind: str) -> None:
    output, _ = attentions[kind](X, X, attention_mask=causal_mask(5))
    for position in range(1, 5):
        other = X.copy()
        other[:, position:] = RNG.normal(size=other[:, position:].shape)
        moved, _ = attentions[kind](other, other, attention_mask=causal_mask(5))
        np.testing.assert_array_equal(moved[:, :position], output[:, :position])
        assert np.abs(moved[:, position:] - output[:, position:]).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_that_sees_nothing_gets_zeros(attentions: dict, kind: str) -> None:
    mask = np.ones((1, 1, 5, 5), bool)
    mask[..., 2, :] = False
    output, weights = attentions[kind](X, X, attention_mask=mask)
    np.testing.assert_array_equal(output[:, 2], np.zeros((2, D)))
    np.testing.assert_array_equal(weights[:, :, 2], np.zeros((2, H, 5)))
    assert np.abs(output[:, 1]).max() > 0


def test_distances_beyond_the_limit_look_alike(attentions: dict) -> None:
    layer = attentions["relative"]
    tables = {name: kernels(layer)[name] for name in ("relative_key", "relative_value")}
    assert tables["relative_key"].shape == (5, D // H)
    # The last query of five is 4 away from the first and 3 from the second: the same row.
    same = np.repeat(RNG.normal(size=(1, 1, D)), 5, axis=1).astype("float32")
    _, weights = layer(same, same)
    last = weights[0, 0, 4]
    np.testing.assert_allclose(last[0], last[1], rtol=1e-6)
    np.testing.assert_allclose(last[1], last[2], rtol=1e-6)
    assert abs(last[2] - last[3]) > 1e-4


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_step_by_step_equals_the_whole_with_beams_that_branch(
    attentions: dict, kind: str, beam_size: int
) -> None:
    layer, length = attentions[kind], 5
    cache = layer.start_cache(2, beam_size, length)
    beams = BranchingBeams(2, beam_size, length, D)
    for time in range(length):
        token = beams.grow()
        output, _, cache = layer.step(token, cache, time, beams.visible())
        for b, k in np.ndindex(2, beam_size):
            tokens = beams.histories[b, k][None]
            whole, _ = layer(tokens, tokens, causal_mask(time + 1))
            np.testing.assert_allclose(output[b, k], whole[0, -1], atol=1e-5)
        cache = layer.reorder(cache, beams.branch())


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_steps_equal_those_of_the_whole(attentions: dict, kind: str) -> None:
    layer = attentions[kind]
    _, whole = layer(X, X, causal_mask(5))
    cache = layer.start_cache(2, 1, 5)
    for time in range(5):
        mask = history_mask(np.zeros((2, 1, 5), "int32"), time)
        _, weights, cache = layer.step(X[:, time : time + 1], cache, time, mask)
        np.testing.assert_allclose(weights[:, :, 0], whole[:, :, time], atol=1e-6)


def test_weights_of_single_queries_equal_those_of_the_whole(attentions: dict) -> None:
    layer = attentions["plain"]
    mask = memory_mask(np.array([[5, 6, 1, 0], [5, 6, 7, 1]]))
    _, whole = layer(X, MEMORY, mask)
    projected, queries = layer.project_memory(MEMORY), layer.start_queries(2, 1)
    for time in range(5):
        token = X[:, time : time + 1]
        _, weights, queries = layer.attend_step(token, queries, time, projected, mask)
        np.testing.assert_allclose(weights[:, :, 0], whole[:, :, time], atol=1e-6)


def test_a_projected_memory_gives_what_a_call_gives(attentions: dict) -> None:
    layer = attentions["plain"]
    mask = memory_mask(np.array([[5, 6, 1, 0], [5, 6, 7, 1]]))
    projected = layer.project_memory(MEMORY)
    expected, _ = layer(X, MEMORY, attention_mask=mask)
    np.testing.assert_allclose(layer.attend(X, projected, mask)[0], expected, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_acts_on_the_weights_in_training_only(kind: str) -> None:
    layer = make(kind, dropout=0.5)
    plain, weights = layer(X, X)
    np.testing.assert_array_equal(layer(X, X)[0], plain)
    dropped, kept = layer(X, X, training=True)
    assert np.abs(dropped - plain).max() > 0
    np.testing.assert_array_equal(kept, weights)


def test_large_inputs_stay_finite(attentions: dict) -> None:
    for layer in attentions.values():
        x = tf.constant(X * 1e4)
        with tf.GradientTape() as tape:
            tape.watch(x)
            output, _ = layer(x, x, attention_mask=causal_mask(5))
        assert np.isfinite(output).all()
        assert np.isfinite(tape.gradient(output, x)).all()


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="multiple of num_heads, both at least 1, got 8 and 3"):
        MultiHeadAttention(num_heads=3, hidden_size=8)
    with pytest.raises(ValueError, match="max_relative_position must be at least 1, got 0"):
        RelativeMultiHeadAttention(max_relative_position=0, num_heads=2, hidden_size=8)
