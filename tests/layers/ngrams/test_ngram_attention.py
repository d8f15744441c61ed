"""Every method, structure and position against loops written from the paper; invariants."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_phrases as reference
from mostly_slow import mostly_slow
from ngram_layers import (
    DEALS,
    LENGTHS,
    MEMORY,
    MEMORY_IDS,
    X_IDS,
    D,
    H,
    X,
    built,
    make,
)

from t2t_phrase import registry
from t2t_phrase.layers.attention.layout import TOKENS, Units
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.ngrams.attentions import HomogeneousConvKV
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.models.phrase_transformer import POSITIONS
from t2t_phrase.ops.masks import causal_mask, memory_mask

RNG = np.random.default_rng(0)


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
@pytest.mark.parametrize("kind", registry.attentions)
def test_padded_batches_equal_loops_over_sentences(
    kind: str, position: str, orders: tuple[int, ...]
) -> None:
    """Lengths 5, 1 and 3: phrases of 2, 3 and 4 are absent from some of them."""
    check_against_loops(built(kind, position, orders), kind, position)


@pytest.mark.parametrize("orders", [(1, 2), (1, 2, 3)])
@pytest.mark.parametrize("position", ["encoder", "decoder"])
@pytest.mark.parametrize("kind", registry.attentions)
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
@pytest.mark.parametrize("kind", registry.attentions)
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
@pytest.mark.parametrize("kind", registry.attentions)
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
@pytest.mark.parametrize("kind", registry.attentions)
def test_padding_is_never_read(kind: str, position: str) -> None:
    layer = built(kind, position, (1, 2, 3))
    output = run(layer, position)
    x = np.where(X_IDS[..., None] > 0, X, 100.0).astype("float32")
    memory = np.where(MEMORY_IDS[..., None] > 0, MEMORY, 100.0).astype("float32")
    moved = run(layer, position, x, memory)
    for b, length in enumerate(LENGTHS):
        np.testing.assert_array_equal(moved[b, :length], output[b, :length])


@pytest.mark.parametrize("kind", registry.attentions)
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


@pytest.mark.parametrize("kind", registry.attentions)
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


@pytest.mark.parametrize("kind", registry.attentions)
def test_masks_of_single_heads_are_kept_apart(kind: str) -> None:
    layer = built(kind)
    mask = RNG.random((3, H, 5, 6)) > 0.4
    mask[..., 0] = True
    _, weights = layer(X, MEMORY, attention_mask=mask)
    assert (np.asarray(weights)[:, :, :5, :6] > 0).tolist() == mask.tolist()


@pytest.mark.parametrize("kind", registry.attentions)
def test_the_layout_describes_the_weights(kind: str) -> None:
    layer = built(kind, "decoder", (1, 3))
    _, weights = layer(X, MEMORY, memory_mask(MEMORY_IDS))
    layout, units = layer.layout, (Units(1), Units(3))
    structure = kind.split("_")[0]
    assert layout.num_heads == H
    assert layout.rows == (units if structure == "interleaved" else (TOKENS,))
    assert layout.all_columns == units
    assert layout.reaches_back == (structure == "homogeneous")
    # Two heads for order 1 and one for order 3.
    by_head = (Units(1), Units(1), Units(3)) if structure == "homogeneous" else ()
    assert layout.columns_by_head == by_head
    assert weights.shape == (3, H, 5 * len(layout.rows), 6 * len(layout.columns))


@pytest.mark.parametrize("kind", registry.attentions)
def test_dropout_acts_on_the_weights_in_training_only(kind: str) -> None:
    layer = make(kind, dropout=0.5)
    plain, weights = layer(X, X)
    np.testing.assert_array_equal(layer(X, X)[0], plain)
    dropped, kept = layer(X, X, training=True)
    assert np.abs(dropped - plain).max() > 0
    np.testing.assert_array_equal(kept, weights)


@pytest.mark.parametrize("kind", registry.attentions)
def test_a_dropped_weight_has_neither_value_nor_distance(kind: str) -> None:
    layer = make(kind, max_relative_position=2)
    layer.build((None, None, D))
    layer.weight_dropout = lambda weights, training: 0 * weights
    np.testing.assert_array_equal(layer(X, X, training=True)[0], np.zeros_like(X))


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


@pytest.mark.parametrize(
    "kind",
    mostly_slow(
        registry.attentions, "homogeneous_queryk", "heterogeneous_convkv", "interleaved_convkv"
    ),
)
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
        ({"num_heads": 5}, "multiple of num_heads, both at least 1, got 12 and 5"),
        ({"orders": (0, 1)}, r"ascending integers, each at least 1, got \(0, 1\)"),
        ({"orders": (2, 1)}, r"ascending integers, each at least 1, got \(2, 1\)"),
        ({"orders": ()}, r"ascending integers, each at least 1, got \(\)"),
        ({"head_counts": (3,)}, r"at least one head to each of the orders \(1, 2\), got \(3,\)"),
        ({"head_counts": (3, 0)}, r"at least one head .* got \(3, 0\)"),
        ({"head_counts": (2, 2)}, r"\(2, 2\) must add up to num_heads, got 3"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    valid = {"num_heads": H, "hidden_size": D, "orders": (1, 2), "head_counts": (1, 2)}
    with pytest.raises(ValueError, match=message):
        HomogeneousConvKV(**{**valid, **options})


def test_a_missing_argument_is_that_of_the_layer():
    with pytest.raises(TypeError, match=r"HomogeneousConvKV\(\) missing .*: 'head_counts'"):
        HomogeneousConvKV(num_heads=H, hidden_size=D, orders=(1, 2))
