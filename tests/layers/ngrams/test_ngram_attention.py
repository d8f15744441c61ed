"""Every method, structure and position against loops written from the paper; invariants."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_phrases as reference

from t2t_phrase.layers.attention.layout import TOKENS, Units
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.ngrams.heterogeneous_convkv import HeterogeneousConvKV
from t2t_phrase.layers.ngrams.heterogeneous_queryk import HeterogeneousQueryK
from t2t_phrase.layers.ngrams.homogeneous_convkv import HomogeneousConvKV
from t2t_phrase.layers.ngrams.homogeneous_queryk import HomogeneousQueryK
from t2t_phrase.layers.ngrams.interleaved_convkv import InterleavedConvKV
from t2t_phrase.layers.ngrams.interleaved_queryk import InterleavedQueryK
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.ops.masks import causal_mask, history_mask, memory_mask

LAYERS = {
    "homogeneous_convkv": HomogeneousConvKV,
    "homogeneous_queryk": HomogeneousQueryK,
    "heterogeneous_convkv": HeterogeneousConvKV,
    "heterogeneous_queryk": HeterogeneousQueryK,
    "interleaved_convkv": InterleavedConvKV,
    "interleaved_queryk": InterleavedQueryK,
}
POSITIONS = ["encoder", "decoder", "cross"]
# Orders, and heads for each of them where the structure is homogeneous.
DEALS = {(1,): (3,), (1, 2): (1, 2), (1, 3): (2, 1), (1, 2, 3): (1, 1, 1), (2, 4): (2, 1)}
D, H = 12, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, D)).astype("float32")
MEMORY = RNG.normal(size=(3, 6, D)).astype("float32")
LENGTHS = (5, 1, 3)  # of X; those of MEMORY are one more
X_IDS = np.array([[7] * n + [0] * (5 - n) for n in LENGTHS])
MEMORY_IDS = np.array([[7] * (n + 1) + [0] * (5 - n) for n in LENGTHS])


def make(kind: str, orders: tuple[int, ...] = (1, 2), **options: Any) -> NgramAttention:
    if kind.startswith("homogeneous"):
        options["head_counts"] = DEALS[orders]
    return LAYERS[kind](**{"num_heads": H, "hidden_size": D, "orders": orders, **options})


@functools.cache
def built(
    kind: str, position: str = "decoder", orders: tuple[int, ...] = (1, 2), limit: int = 0
) -> NgramAttention:
    options: dict[str, Any] = {"max_relative_position": limit}
    if kind.startswith("interleaved"):
        options["look_ahead"] = position == "encoder"
    layer = make(kind, orders, **options)
    layer.build((None, None, D), (None, None, D))
    return layer


def by_loops(layer: NgramAttention, kind: str) -> reference.NgramAttention:
    kernels = {}
    for variable in layer.trainable_variables:
        name = variable.path.removesuffix("/kernel").split("/")
        kernels["/".join(name[-2:]) if "distances" in name else name[-1]] = np.asarray(
            variable, "float64"
        )
    structure, method = kind.split("_")
    return reference.NgramAttention(
        method=method,
        structure=structure,
        kernels=kernels,
        num_heads=H,
        orders=layer.orders,
        head_counts=getattr(layer, "head_counts", ()),
        look_ahead=getattr(layer, "look_ahead", False),
        limit=layer.max_relative_position,
    )


def run(layer: NgramAttention, position: str, x: Any = X, memory: Any = MEMORY) -> Any:
    """Return the layer's output for the padded batch, as the models call it."""
    if position == "encoder":
        return layer(x, x, attention_mask=memory_mask(X_IDS))[0]
    if position == "decoder":
        return layer(x, x, attention_mask=causal_mask(5))[0]
    return layer(x, memory, attention_mask=memory_mask(MEMORY_IDS))[0]


def check_against_loops(layer: NgramAttention, kind: str, position: str) -> None:
    output = run(layer, position)
    loops = by_loops(layer, kind)
    for b, length in enumerate(LENGTHS):
        x = list(X[b, :length].astype("float64"))
        memory = list(MEMORY[b, : length + 1].astype("float64")) if position == "cross" else x
        expected = loops.attend(x, memory, causal=position == "decoder")
        np.testing.assert_allclose(output[b, :length], expected, atol=1e-5)


@pytest.mark.parametrize("orders", DEALS)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", LAYERS)
def test_padded_batches_equal_loops_over_sentences(
    kind: str, position: str, orders: tuple[int, ...]
) -> None:
    """Lengths 5, 1 and 3: phrases of 2, 3 and 4 are absent from some of them."""
    check_against_loops(built(kind, position, orders), kind, position)


@pytest.mark.parametrize("orders", [(1, 2), (1, 2, 3)])
@pytest.mark.parametrize("position", ["encoder", "decoder"])
@pytest.mark.parametrize("kind", LAYERS)
def test_distances_equal_loops(kind: str, position: str, orders: tuple[int, ...]) -> None:
    check_against_loops(built(kind, position, orders, 2), kind, position)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", ["heterogeneous_queryk", "interleaved_queryk"])
def test_a_key_matrix_for_each_order_equals_loops(kind: str, position: str) -> None:
    options = {"look_ahead": position == "encoder"} if kind.startswith("interleaved") else {}
    layer = make(kind, (1, 2, 3), share_key_projection=False, **options)
    layer.build((None, None, D))
    assert sum("/key_" in variable.path for variable in layer.trainable_variables) == 3
    check_against_loops(layer, kind, position)


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("kind", LAYERS)
def test_order_one_alone_is_plain_attention(kind: str, limit: int) -> None:
    layer = built(kind, orders=(1,), limit=limit)
    shared = {"num_heads": H, "hidden_size": D}
    plain = (
        RelativeMultiHeadAttention(max_relative_position=limit, **shared)
        if limit
        else MultiHeadAttention(**shared)
    )
    plain.build((None, None, D))
    ours = {v.path: v for v in layer.trainable_variables}
    for theirs in plain.trainable_variables:
        name = theirs.path.split("/", 1)[1].replace("relative_", "distances/")
        pattern = name.replace("/kernel", "(_1)?/kernel") if "kernel" in name else f"{name}_0"
        (found,) = (path for path in ours if re.search(f"/{pattern}$", path))
        theirs.assign(np.reshape(ours[found], theirs.shape))
    expected, expected_weights = plain(X, X, attention_mask=causal_mask(5))
    output, weights = layer(X, X, attention_mask=causal_mask(5))
    np.testing.assert_allclose(output, expected, atol=1e-6)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-6)


@pytest.mark.parametrize("orders", [(1, 2), (1, 2, 3), (2, 4)])
@pytest.mark.parametrize("kind", LAYERS)
def test_nothing_flows_from_the_future(kind: str, orders: tuple[int, ...]) -> None:
    layer = built(kind, "decoder", orders)
    output = run(layer, "decoder")
    for position in range(1, 5):
        other = X.copy()
        other[:, position] = RNG.normal(size=other[:, position].shape)
        moved = run(layer, "decoder", other)
        np.testing.assert_array_equal(moved[:, :position], output[:, :position])
        assert np.abs(moved[:, position:] - output[:, position:]).max() > 1e-3


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", LAYERS)
def test_padding_is_never_read(kind: str, position: str) -> None:
    layer = built(kind, position, (1, 2, 3))
    output = run(layer, position)
    x = np.where(X_IDS[..., None] > 0, X, 100.0).astype("float32")
    memory = np.where(MEMORY_IDS[..., None] > 0, MEMORY, 100.0).astype("float32")
    moved = run(layer, position, x, memory)
    for b, length in enumerate(LENGTHS):
        np.testing.assert_array_equal(moved[b, :length], output[b, :length])


@pytest.mark.parametrize("kind", LAYERS)
def test_rows_of_weights_are_distributions_over_phrases_that_exist(kind: str) -> None:
    layer = built(kind, "encoder", (1, 3))
    _, weights = layer(X, X, attention_mask=memory_mask(X_IDS))
    sums = np.sum(weights, -1)
    if kind.startswith("interleaved"):
        assert weights.shape == (3, H, 10, 10)
        # Query phrases of order 1 and then 3: absent at padding, and where three tokens do not fit.
        real = X_IDS > 0
        exists = np.concatenate([real, real & (np.arange(5) >= 2)], axis=1)
        expected = np.broadcast_to(exists[:, None], sums.shape)
    else:
        assert weights.shape == (3, H, 5, 5 if kind.startswith("homogeneous") else 10)
        expected = np.ones_like(sums)
    np.testing.assert_allclose(sums, expected, atol=1e-6)
    if not kind.startswith("homogeneous"):
        assert np.min(weights[0, :, 0, 7:]) > 0
        for b, absent in enumerate(([5, 6], range(1, 10), [3, 4, 5, 6, 8, 9])):
            assert np.max(np.asarray(weights)[b][..., list(absent)]) == 0


@pytest.mark.parametrize("kind", LAYERS)
def test_a_query_with_nothing_to_attend_to_gets_zeros(kind: str) -> None:
    """Either the mask hides all, or no phrase fits into a memory of one token."""
    layer = built(kind, "decoder", (2, 4))
    mask = np.ones((1, 1, 5, 5), bool)
    mask[..., 2, :] = False
    output, weights = layer(X, X, attention_mask=mask)
    np.testing.assert_array_equal(np.asarray(weights)[:, :, 2], 0)
    if not kind.startswith("interleaved"):
        np.testing.assert_array_equal(output[:, 2], np.zeros((3, D)))
        assert np.abs(output[:, 1]).max() > 0
    if not kind.startswith("homogeneous"):
        output, weights = layer(X, MEMORY[:, :1])
        np.testing.assert_array_equal(output, np.zeros_like(output))
        np.testing.assert_array_equal(weights, np.zeros_like(weights))


@pytest.mark.parametrize("kind", LAYERS)
def test_masks_of_single_heads_are_kept_apart(kind: str) -> None:
    layer = built(kind)
    mask = RNG.random((3, H, 5, 6)) > 0.4
    mask[..., 0] = True
    _, weights = layer(X, MEMORY, attention_mask=mask)
    assert (np.asarray(weights)[:, :, :5, :6] > 0).tolist() == mask.tolist()


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("kind", LAYERS)
def test_step_by_step_equals_the_whole_with_beams_that_branch(
    kind: str, limit: int, beam_size: int
) -> None:
    layer, length, rng = built(kind, "decoder", (1, 2, 3), limit), 5, np.random.default_rng(1)
    cache = layer.start_cache(2, beam_size, length)
    ancestors = np.zeros((2, beam_size, length), "int32")
    histories = np.zeros((2, beam_size, 0, D), "float32")
    for time in range(length):
        token = rng.normal(size=(2, beam_size, D)).astype("float32")
        histories = np.concatenate([histories, token[:, :, None]], axis=2)
        ancestors[:, :, time] = np.arange(beam_size)
        output, _, cache = layer.step(token, cache, time, history_mask(ancestors, time))
        rows = histories.reshape(2 * beam_size, time + 1, D)
        whole, _ = layer(rows, rows, causal_mask(time + 1))
        np.testing.assert_allclose(np.reshape(output, (-1, D)), whole[:, -1], atol=1e-5)
        parents = rng.integers(beam_size, size=(2, beam_size))
        cache = layer.reorder(cache, parents)
        ancestors = np.take_along_axis(ancestors, parents[..., None], axis=1)
        histories = np.take_along_axis(histories, parents[..., None, None], axis=1)


@pytest.mark.parametrize("kind", LAYERS)
def test_queries_one_by_one_equal_the_whole_with_beams_that_branch(kind: str) -> None:
    layer, rng = built(kind, "cross", (1, 2, 3)), np.random.default_rng(2)
    mask = memory_mask(MEMORY_IDS)
    projected = layer.project_memory(MEMORY)
    queries = layer.start_queries(3, 2)
    assert bool(queries) == kind.startswith("interleaved")
    histories = np.zeros((3, 2, 0, D), "float32")
    for time in range(4):
        token = rng.normal(size=(3, 2, D)).astype("float32")
        histories = np.concatenate([histories, token[:, :, None]], axis=2)
        output, _, queries = layer.attend_step(token, queries, time, projected, mask)
        for k in range(2):
            whole, _ = layer(histories[:, k], MEMORY, mask)
            np.testing.assert_allclose(output[:, k], whole[:, -1], atol=1e-5)
        parents = rng.integers(2, size=(3, 2))
        queries = layer.reorder_queries(queries, parents)
        histories = np.take_along_axis(histories, parents[..., None, None], axis=1)


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("kind", LAYERS)
def test_weights_of_steps_equal_those_of_the_whole(kind: str, limit: int) -> None:
    layer, length = built(kind, "decoder", (1, 3), limit), 5
    _, whole = layer(X, X, causal_mask(length))
    rows = whole.shape[2] // length
    cache = layer.start_cache(3, 1, length)
    for time in range(length):
        mask = history_mask(np.zeros((3, 1, length), "int32"), time)
        _, weights, cache = layer.step(X[:, time : time + 1], cache, time, mask)
        # One row for each query order.
        expected = np.asarray(whole)[:, :, [row * length + time for row in range(rows)]]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
def test_weights_of_single_queries_equal_those_of_the_whole(kind: str) -> None:
    layer, length = built(kind, "cross", (1, 3)), 5
    mask = memory_mask(MEMORY_IDS)
    _, whole = layer(X, MEMORY, mask)
    rows = whole.shape[2] // length
    projected, queries = layer.project_memory(MEMORY), layer.start_queries(3, 1)
    for time in range(length):
        token = X[:, time : time + 1]
        _, weights, queries = layer.attend_step(token, queries, time, projected, mask)
        expected = np.asarray(whole)[:, :, [row * length + time for row in range(rows)]]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
def test_the_layout_describes_the_weights(kind: str) -> None:
    layer = built(kind, "decoder", (1, 3))
    _, weights = layer(X, MEMORY, memory_mask(MEMORY_IDS))
    layout, units = layer.layout, (Units(1), Units(3))
    structure = kind.split("_")[0]
    assert layout.num_heads == H and layout.has_ngrams
    assert layout.rows == (units if structure == "interleaved" else (TOKENS,))
    assert layout.all_columns == units
    assert layout.reaches_back == (structure == "homogeneous")
    # Two heads for order 1 and one for order 3.
    by_head = (Units(1), Units(1), Units(3)) if structure == "homogeneous" else ()
    assert layout.columns_by_head == by_head
    assert weights.shape == (3, H, 5 * len(layout.rows), 6 * len(layout.columns))


@pytest.mark.parametrize("kind", LAYERS)
def test_what_is_kept_grows_with_the_orders_alone(kind: str) -> None:
    """The last n - 1 tokens, never the prefix."""
    cache = built(kind, "decoder", (1, 3)).start_cache(2, 4, 50)
    assert all(kept.shape[:3] == (2, 4, 2) for kept in cache["recent"].values())
    assert {"input"} <= set(cache["recent"])
    for name, kept in cache["history"].items():
        assert kept.shape[-2 if name == "value" else -1] == 200


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["heterogeneous_queryk", "interleaved_queryk"])
def test_a_history_keeps_the_keys_of_tokens_and_shared_ones_once(kind: str, shared: bool) -> None:
    layer = make(kind, (1, 2, 3), share_key_projection=shared)
    layer.build((None, None, D))
    cache = layer.start_cache(3, 1, 5)
    keys = {"key"} if shared else {"key_1", "key_2", "key_3"}
    assert set(cache["history"]) == {*keys, "value"}
    assert {cache["history"][name].shape for name in keys} == {(3, H, D // H, 5)}
    whole, _ = layer(X, X, causal_mask(5))
    for time in range(5):
        mask = history_mask(np.zeros((3, 1, 5), "int32"), time)
        output, _, cache = layer.step(X[:, time : time + 1], cache, time, mask)
        np.testing.assert_allclose(output[:, 0], whole[:, time], atol=1e-5)


@pytest.mark.parametrize("kind", LAYERS)
def test_dropout_acts_on_the_weights_in_training_only(kind: str) -> None:
    layer = make(kind, dropout=0.5)
    plain, weights = layer(X, X)
    np.testing.assert_array_equal(layer(X, X)[0], plain)
    dropped, kept = layer(X, X, training=True)
    assert np.abs(dropped - plain).max() > 0
    np.testing.assert_array_equal(kept, weights)


def size(kind: str, orders: tuple[int, ...]) -> float:
    """Return how many D x D matrices the equations have; D / H to a head."""
    structure, method = kind.split("_")
    heads = [h / H for h in DEALS[orders]] if structure == "homogeneous" else [1] * len(orders)
    convolved = sum(n * share for n, share in zip(orders, heads, strict=True))
    if structure != "interleaved":
        return 2 + 2 * convolved
    queries = sum(orders) if method == "convkv" else sum(orders) ** 2
    keys = convolved if method == "convkv" else 1
    return queries + keys + convolved + len(orders)


@pytest.mark.parametrize("kind", LAYERS)
def test_contract(check_layer: Callable[..., None], kind: str) -> None:
    orders = (1, 3)
    check_layer(
        lambda dtype: make(kind, orders, dtype=dtype),
        [X, MEMORY],
        weights=round(D * D * size(kind, orders)),
        options={"attention_mask": np.array([True] * 4 + [False] * 2)},
    )


def test_contract_with_distances_and_looking_ahead(check_layer: Callable[..., None]) -> None:
    orders, width = (1, 2), D // H
    distances = 5 * (1 + 2) * width + 5 * 2 * width
    check_layer(
        lambda dtype: make(
            "interleaved_queryk", orders, dtype=dtype, look_ahead=True, max_relative_position=2
        ),
        [X, X],
        weights=round(D * D * (size("interleaved_queryk", orders) + 1)) + distances,
        options={"attention_mask": memory_mask(X_IDS)},
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_heads": 5}, "multiple of num_heads, got 12 and 5"),
        ({"orders": (0, 1)}, r"ascending numbers from 1 on, got \(0, 1\)"),
        ({"orders": (2, 1)}, r"ascending numbers from 1 on, got \(2, 1\)"),
        ({"orders": ()}, r"ascending numbers from 1 on, got \(\)"),
        ({"head_counts": (3,)}, r"at least one head for each of the orders \(1, 2\), got \(3,\)"),
        ({"head_counts": (3, 0)}, r"at least one head .* got \(3, 0\)"),
        ({"head_counts": (2, 2)}, r"\(2, 2\) must add up to num_heads, got 3"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    valid = {"num_heads": H, "hidden_size": D, "orders": (1, 2), "head_counts": (1, 2)}
    with pytest.raises(ValueError, match=message):
        HomogeneousConvKV(**{**valid, **options})


def test_an_encoder_that_looks_ahead_cannot_decode() -> None:
    with pytest.raises(ValueError, match="look_ahead=True cannot decode"):
        make("interleaved_convkv", look_ahead=True).start_cache(1, 1, 1)
