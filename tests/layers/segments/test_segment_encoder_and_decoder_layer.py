"""Order, contract and steps of the two layers; `tests/models` compares whole stacks with loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from branching_beams import BranchingBeams
from random_weights import randomize

from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination
from t2t_phrase.layers.segments.attentive_pooling import AttentivePooling
from t2t_phrase.layers.segments.max_pooling import MaxPooling
from t2t_phrase.layers.segments.segment_decoder_layer import SegmentDecoderLayer
from t2t_phrase.layers.segments.segment_encoder_layer import SegmentEncoderLayer
from t2t_phrase.ops.masks import causal_mask, memory_mask
from t2t_phrase.ops.partition import segment_membership

D, H, F, UNITS = 8, 2, 12, 10
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, D)).astype("float32")
MEMORY = RNG.normal(size=(2, 5, D)).astype("float32")
SEGMENTS = RNG.normal(size=(2, 3, D)).astype("float32")
MEMBERSHIP = np.asarray(segment_membership(np.array([[1, 1, 2, 0], [1, 2, 2, 2]]), 3))
MASK = memory_mask(np.array([[4, 4, 1, 0], [4, 4, 4, 1]]))
SOURCE_MASK = memory_mask(np.array([[4, 4, 4, 1, 0], [4, 1, 0, 0, 0]]))
SEGMENT_MASK = np.array([[True, True, True], [True, False, False]])[:, None, None]
ATTENTION = 4 * D * D
FEED_FORWARD = 2 * D * F + D + F
COMBINATION = ATTENTION + 3 * D * UNITS + UNITS + D
POOLING = 2 * D * UNITS + 2 * UNITS


def attention(name: str, dtype: str) -> MultiHeadAttention:
    return MultiHeadAttention(num_heads=H, hidden_size=D, dtype=dtype, name=name)


def shared(norm: str, dtype: str) -> dict[str, Any]:
    return {
        "self_attention": attention("self_attention", dtype),
        "combination": AttentiveCombination(
            attention=attention("attention", dtype), hidden_size=D, units=UNITS, dtype=dtype
        ),
        "feed_forward": FeedForward(hidden_size=D, filter_size=F, dtype=dtype),
        "norm": norm,
        "dtype": dtype,
    }


def make_encoder(norm: str, dtype: str = "float32") -> SegmentEncoderLayer:
    pooling = AttentivePooling(
        glance=MaxPooling(dtype=dtype), hidden_size=D, units=UNITS, dtype=dtype
    )
    return SegmentEncoderLayer(pooling=pooling, **shared(norm, dtype))


def make_decoder(norm: str, dtype: str = "float32") -> SegmentDecoderLayer:
    return SegmentDecoderLayer(
        cross_attention=attention("cross_attention", dtype), **shared(norm, dtype)
    )


@pytest.mark.parametrize("norm", ["pre", pytest.param("post", marks=pytest.mark.slow)])
def test_contract_of_the_encoder_layer(check_layer: Callable, norm: str) -> None:
    check_layer(
        lambda dtype: make_encoder(norm, dtype),
        [X, MEMBERSHIP],
        weights=ATTENTION + FEED_FORWARD + COMBINATION + POOLING + 3 * 2 * D,
        options={"attention_mask": MASK},
    )


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_contract_of_the_decoder_layer(check_layer: Callable, norm: str) -> None:
    check_layer(
        lambda dtype: make_decoder(norm, dtype),
        [X, MEMORY, SEGMENTS],
        weights=2 * ATTENTION + FEED_FORWARD + COMBINATION + 4 * 2 * D,
        options={
            "attention_mask": causal_mask(4),
            "memory_mask": SOURCE_MASK,
            "segment_mask": SEGMENT_MASK,
        },
    )


def test_implicit_padding_is_in_no_segment() -> None:
    layer = make_encoder("pre")
    windows = np.array([[[1, 1, 0, 0], [0, 0, 1, 1]]] * 2, bool)
    ids = np.array([[4, 5, 0, 0], [4, 5, 6, 7]])
    x, mask = keras.layers.Embedding(8, D, mask_zero=True)(ids), ids != 0
    masks = {"membership": windows & mask[:, None], "attention_mask": mask[:, None, None]}
    expected = layer(np.asarray(x), **masks)
    np.testing.assert_allclose(layer(x, windows)[0], expected[0], atol=1e-6)


def test_the_encoder_reads_phrases_first_and_the_decoder_after_itself() -> None:
    encoder = make_encoder("pre")
    output, weights, phrases, segment_weights, pooling_weights = encoder(X, MEMBERSHIP, MASK)
    normed = encoder.segment_residual.before(X)
    expected, _ = encoder.pooling(normed, MEMBERSHIP)
    np.testing.assert_allclose(phrases, expected, atol=1e-6)
    looked_up, _ = encoder.combination(normed, phrases, np.any(MEMBERSHIP, -1)[:, None, None])
    plain, _ = super(SegmentEncoderLayer, encoder).call(X + looked_up, attention_mask=MASK)
    np.testing.assert_allclose(output, plain, atol=1e-6)
    assert weights.shape == (2, H, 4, 4)
    assert segment_weights.shape == (2, H, 4, 3)
    assert pooling_weights.shape == (2, 3, 4)
    np.testing.assert_array_equal(np.asarray(segment_weights)[..., 2], 0)

    decoder = make_decoder("pre")
    output, own, cross, segment_weights = decoder(
        X, MEMORY, SEGMENTS, causal_mask(4), SOURCE_MASK, SEGMENT_MASK
    )
    x, _ = decoder.attend_self(X, causal_mask(4), False)
    looked_up, _ = decoder.combination(decoder.segment_residual.before(x), SEGMENTS, SEGMENT_MASK)
    x, _ = decoder.attend_source(x + looked_up, MEMORY, SOURCE_MASK, False)
    np.testing.assert_allclose(output, decoder.feed(x), atol=1e-6)
    assert (own.shape, cross.shape) == ((2, H, 4, 4), (2, H, 4, 5))
    assert segment_weights.shape == (2, H, 4, 3)


@pytest.mark.parametrize("norm", ["pre", pytest.param("post", marks=pytest.mark.slow)])
def test_step_by_step_equals_the_whole_with_beams_that_branch(norm: str) -> None:
    layer = make_decoder(norm)
    layer.build(X.shape, MEMORY.shape, SEGMENTS.shape)
    randomize(layer)
    beam_size, length = 3, 4
    cache = layer.start_cache(2, beam_size, length)
    projected = layer.project_memory(MEMORY, SEGMENTS, SEGMENT_MASK)
    beams = BranchingBeams(2, beam_size, length, D)
    for time in range(length):
        token = beams.grow()
        output, weights, cache = layer.step(
            token,
            cache,
            time,
            projected=projected,
            attention_mask=beams.visible(),
            memory_mask=SOURCE_MASK,
        )
        for k in range(beam_size):
            whole = layer(
                beams.histories[:, k],
                MEMORY,
                SEGMENTS,
                causal_mask(time + 1),
                SOURCE_MASK,
                SEGMENT_MASK,
            )
            np.testing.assert_allclose(output[:, k], whole[0][:, -1], atol=1e-5)
            for name, expected in zip(("cross", "decoder_phrases"), whole[2:], strict=True):
                np.testing.assert_allclose(
                    weights[name][:, :, k], expected[:, :, -1], atol=1e-6, err_msg=name
                )
        assert weights["decoder"].shape == (2, H, beam_size, length * beam_size)
        cache = layer.reorder(cache, beams.branch())
