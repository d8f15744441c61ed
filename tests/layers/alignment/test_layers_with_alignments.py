"""The decoder layers of lexical and alignment model: what every layer owes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from random_weights import randomize

from t2t_phrase.layers.alignment.aligned_attention import AlignedAttention
from t2t_phrase.layers.alignment.aligned_decoder_layer import AlignedDecoderLayer
from t2t_phrase.layers.alignment.history_layer import HistoryLayer
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer
from t2t_phrase.ops.masks import causal_mask, history_mask

D, H, F = 8, 2, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, D)).astype("float32")
MEMORY = RNG.normal(size=(2, 5, D)).astype("float32")
ALIGNMENT = np.array([[0, 4, 4, 2], [1, 0, 3, 3]], "int32")
ATTENTION = 4 * D * D
FEED_FORWARD = 2 * D * F + D + F


def attention(name: str, dtype: str) -> MultiHeadAttention:
    return MultiHeadAttention(num_heads=H, hidden_size=D, dtype=dtype, name=name)


def feed_forward(dtype: str) -> FeedForward:
    return FeedForward(hidden_size=D, filter_size=F, dtype=dtype, name="feed_forward")


def make_aligned(dtype: str = "float32") -> AlignedDecoderLayer:
    return AlignedDecoderLayer(
        self_attention=attention("self_attention", dtype),
        cross_attention=AlignedAttention(
            attention=attention("cross_attention", dtype),
            hidden_size=D,
            head_size=D // H,
            dtype=dtype,
            name="alignment_head",
        ),
        feed_forward=feed_forward(dtype),
        dtype=dtype,
        name="layer",
    )


def make_history(dtype: str = "float32") -> HistoryLayer:
    return HistoryLayer(
        self_attention=attention("self_attention", dtype),
        feed_forward=feed_forward(dtype),
        dtype=dtype,
    )


def test_contract_of_the_aligned_decoder_layer(check_layer: Callable[..., None]) -> None:
    head = 2 * D * D // H
    weights = 2 * ATTENTION + head + FEED_FORWARD + 3 * 2 * D
    check_layer(make_aligned, [X, MEMORY, ALIGNMENT], weights=weights)


def test_all_weights_but_those_of_the_head_have_the_names_of_a_plain_layer() -> None:
    plain = DecoderLayer(
        self_attention=attention("self_attention", "float32"),
        cross_attention=attention("cross_attention", "float32"),
        feed_forward=feed_forward("float32"),
        name="layer",
    )
    plain.build(X.shape, MEMORY.shape)
    aligned = make_aligned()
    aligned.build(X.shape, MEMORY.shape)
    known = {variable.path for variable in plain.trainable_variables}
    found = {variable.path for variable in aligned.trainable_variables}
    assert known < found
    assert found - known == {
        "layer/alignment_head/value/kernel",
        "layer/alignment_head/output/kernel",
    }


def test_contract_of_the_history_layer(check_layer: Callable[..., None]) -> None:
    check_layer(make_history, [X], weights=ATTENTION + FEED_FORWARD + 2 * 2 * D)


def test_a_history_step_by_step_equals_the_whole() -> None:
    layer = make_history()
    layer.build(X.shape)
    randomize(layer)
    expected, _ = layer(X, attention_mask=causal_mask(X.shape[1]))
    cache = layer.start_cache(2, 1, X.shape[1])
    ancestors = np.zeros((2, 1, X.shape[1]), "int32")
    for time in range(X.shape[1]):
        mask = history_mask(ancestors, time)
        output, _, cache = layer.step(X[:, time : time + 1], cache, time, attention_mask=mask)
        np.testing.assert_allclose(output[:, 0], expected[:, time], atol=1e-5)
