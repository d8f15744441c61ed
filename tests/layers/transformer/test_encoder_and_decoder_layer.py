from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_transformer as reference
from branching_beams import BranchingBeams
from random_weights import randomize

from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer
from t2t_phrase.ops.masks import causal_mask, memory_mask

D, H, F = 8, 2, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, D)).astype("float32")
MEMORY = RNG.normal(size=(2, 5, D)).astype("float32")
ATTENTION = 4 * D * D
FEED_FORWARD = 2 * D * F + D + F
MASK = memory_mask(np.array([[4, 4, 1, 0], [4, 4, 4, 1]]))
SOURCE_MASK = memory_mask(np.array([[4, 4, 4, 1, 0], [4, 1, 0, 0, 0]]))


def attention(name: str, dtype: str, relative: bool = False) -> MultiHeadAttention:
    shared: dict[str, Any] = {"num_heads": H, "hidden_size": D, "dtype": dtype, "name": name}
    if relative:
        return RelativeMultiHeadAttention(max_relative_position=2, **shared)
    return MultiHeadAttention(**shared)


def make_encoder(norm: str, dtype: str = "float32", dropout: float = 0.0) -> EncoderLayer:
    return EncoderLayer(
        self_attention=attention("self_attention", dtype),
        feed_forward=FeedForward(hidden_size=D, filter_size=F, dtype=dtype),
        norm=norm,  # type: ignore[arg-type]
        dropout=dropout,
        dtype=dtype,
    )


def make_decoder(norm: str, dtype: str = "float32", relative: bool = False) -> DecoderLayer:
    return DecoderLayer(
        self_attention=attention("self_attention", dtype, relative),
        cross_attention=attention("cross_attention", dtype),
        feed_forward=FeedForward(hidden_size=D, filter_size=F, dtype=dtype),
        norm=norm,  # type: ignore[arg-type]
        dtype=dtype,
    )


@pytest.mark.parametrize("norm", ["pre", pytest.param("post", marks=pytest.mark.slow)])
def test_contract_of_the_encoder_layer(check_layer: Callable, norm: str) -> None:
    check_layer(
        lambda dtype: make_encoder(norm, dtype),
        [X],
        weights=ATTENTION + FEED_FORWARD + 2 * 2 * D,
        options={"attention_mask": MASK},
    )


@pytest.mark.parametrize("norm", ["pre", pytest.param("post", marks=pytest.mark.slow)])
def test_contract_of_the_decoder_layer(check_layer: Callable, norm: str) -> None:
    check_layer(
        lambda dtype: make_decoder(norm, dtype),
        [X, MEMORY],
        weights=2 * ATTENTION + FEED_FORWARD + 3 * 2 * D,
        options={"attention_mask": causal_mask(4), "memory_mask": SOURCE_MASK},
    )


def test_a_layer_without_weights_passes_its_input_on() -> None:
    """With all maps zero, pre-norm is the identity and post-norm normalises twice."""
    for norm in ("pre", "post"):
        layer = make_encoder(norm)
        layer.build(X.shape)
        for variable in layer.trainable_variables:
            if "norm" not in variable.path:
                variable.assign(0 * variable)
        output, _ = layer(X)
        one, zero = np.ones(D), np.zeros(D)
        expected = X[0, 0]
        if norm == "post":
            expected = reference.layer_norm(reference.layer_norm(expected, one, zero), one, zero)
        np.testing.assert_allclose(output[0, 0], expected, atol=1e-5)


def test_the_weights_of_all_attentions_are_returned() -> None:
    encoder, decoder = make_encoder("pre"), make_decoder("pre")
    _, weights = encoder(X, attention_mask=MASK)
    assert weights.shape == (2, H, 4, 4)
    np.testing.assert_array_equal(weights[0, :, :, 3], np.zeros((H, 4)))
    _, own, cross = decoder(X, MEMORY, causal_mask(4), SOURCE_MASK)
    assert (own.shape, cross.shape) == ((2, H, 4, 4), (2, H, 4, 5))
    np.testing.assert_array_equal(own[:, :, 0, 1:], np.zeros((2, H, 3)))
    np.testing.assert_array_equal(cross[1, :, :, 2:], np.zeros((H, 4, 3)))


@pytest.mark.parametrize(("norm", "relative"), [("pre", False), ("post", False), ("pre", True)])
def test_step_by_step_equals_the_whole_with_beams_that_branch(norm: str, relative: bool) -> None:
    layer = make_decoder(norm, relative=relative)
    layer.build(X.shape, MEMORY.shape)
    randomize(layer)
    beam_size, length = 3, 4
    cache = layer.start_cache(2, beam_size, length)
    projected = layer.cross_attention.project_memory(MEMORY)
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
            whole, _, cross = layer(
                beams.histories[:, k], MEMORY, causal_mask(time + 1), SOURCE_MASK
            )
            np.testing.assert_allclose(output[:, k], whole[:, -1], atol=1e-5)
            np.testing.assert_allclose(weights["cross"][:, :, k], cross[:, :, -1], atol=1e-6)
        assert weights["decoder"].shape == (2, H, beam_size, length * beam_size)
        cache = layer.reorder(cache, beams.branch())


def test_dropout_acts_in_training_only() -> None:
    layer = make_encoder("pre", dropout=0.5)
    plain, _ = layer(X)
    np.testing.assert_array_equal(layer(X)[0], plain)
    assert np.abs(layer(X, training=True)[0] - plain).max() > 0
