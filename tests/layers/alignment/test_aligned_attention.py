"""The alignment head beside any attention, against loops and against the attention alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from random_weights import randomize
from reference_alignment import attend_with_alignment

from t2t_phrase.layers.alignment.aligned_attention import AlignedAttention
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.ngrams.attentions import InterleavedQueryK

D, H = 8, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, D)).astype("float32")
MEMORY = RNG.normal(size=(2, 4, D)).astype("float32")
ALIGNMENT = np.array([[3, 0, 0, 2, 1], [1, 1, 0, 0, 1]], "int32")
MASK = np.array([[True] * 4, [True, True, False, False]])[:, None, None]


def plain(dtype: str = "float32") -> keras.layers.Layer:
    return MultiHeadAttention(num_heads=H, hidden_size=D, dtype=dtype, name="inner")


def interleaved(dtype: str = "float32") -> keras.layers.Layer:
    return InterleavedQueryK(
        num_heads=H, hidden_size=D, orders=(1, 2), look_ahead=False, dtype=dtype, name="inner"
    )


def make(inner: Callable[..., keras.layers.Layer] = plain, dtype: str = "float32") -> Any:
    return AlignedAttention(
        attention=inner(dtype=dtype), hidden_size=D, head_size=D // H, dtype=dtype
    )


def built(inner: Callable[..., keras.layers.Layer], seed: int = 0) -> Any:
    layer = make(inner)
    layer.build(X.shape, MEMORY.shape)
    randomize(layer, seed)
    return layer


def test_it_equals_one_output_map_of_all_heads_in_loops() -> None:
    layer = built(plain)
    output, weights = layer(X, MEMORY, ALIGNMENT, attention_mask=MASK)
    assert weights.shape == (2, H, 5, 4)
    inner = layer.attention
    maps = {"query": inner.query_map, "key": inner.key_map, "value": inner.value_map}
    kernels = {name: np.asarray(dense.kernel, "float64") for name, dense in maps.items()}
    kernels["output"] = np.asarray(inner.output_map.kernel, "float64")
    head = {
        "value": np.asarray(layer.value_map.kernel, "float64"),
        "output": np.asarray(layer.output_map.kernel, "float64"),
    }
    for row, length in enumerate((4, 2)):
        expected = attend_with_alignment(
            list(X[row]), list(MEMORY[row, :length]), ALIGNMENT[row], kernels, head, num_heads=H
        )
        np.testing.assert_allclose(output[row], expected, atol=1e-5)


@pytest.mark.parametrize("inner", [plain, interleaved])
def test_new_rows_start_at_zero_and_are_the_first_to_learn(
    inner: Callable[..., keras.layers.Layer],
) -> None:
    import tensorflow as tf

    layer = make(inner)
    layer.build(X.shape, MEMORY.shape)
    assert layer.layout == layer.attention.layout
    output, weights = layer(X, MEMORY, ALIGNMENT, attention_mask=MASK)
    alone, alone_weights = layer.attention(X, MEMORY, attention_mask=MASK)
    np.testing.assert_array_equal(output, alone)
    np.testing.assert_array_equal(weights, alone_weights)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(X, MEMORY, ALIGNMENT)[0] * X)
    rows, values = tape.gradient(loss, [layer.output_map.kernel, layer.value_map.kernel])
    assert np.abs(rows).max() > 1e-3
    assert not np.any(values)


@pytest.mark.parametrize("inner", [plain, interleaved])
def test_a_step_equals_the_whole(inner: Callable[..., keras.layers.Layer]) -> None:
    layer = built(inner)
    expected, _ = layer(X, MEMORY, ALIGNMENT, attention_mask=MASK)
    projected = layer.project_memory(MEMORY)
    queries = layer.start_queries(2, 1)
    for time in range(X.shape[1]):
        now = slice(time, time + 1)
        output, _, queries = layer.attend_step(
            X[:, now], queries, time, layer.align(projected, ALIGNMENT[:, now]), MASK
        )
        np.testing.assert_allclose(output, expected[:, now], atol=1e-5)


@pytest.mark.parametrize("outside", [-1, 4])
def test_outside_of_the_memory_nothing_is_read(outside: int) -> None:
    layer = built(plain)
    output, _ = layer(X, MEMORY, np.full_like(ALIGNMENT, outside))
    np.testing.assert_allclose(output, layer.attention(X, MEMORY)[0], atol=1e-6)


def test_contract(check_layer: Callable[..., None]) -> None:
    check_layer(make, [X, MEMORY, ALIGNMENT], weights=4 * D * D + 2 * D * D // H)
