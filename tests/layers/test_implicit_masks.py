"""Keras' implicit masks count like explicit ones, and padding does not change results."""

from typing import Any

import keras
import numpy as np
import pytest
from backend_process import needs_jax, run_under

from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
from t2t_phrase.layers.granularities.max_composition import MaxComposition
from t2t_phrase.layers.granularities.multi_granularity_attention import MultiGranularityAttention
from t2t_phrase.layers.luong.general_score import GeneralScore
from t2t_phrase.layers.luong.global_attention import GlobalAttention
from t2t_phrase.layers.ngrams.attentions import (
    HeterogeneousQueryK,
    HomogeneousConvKV,
    InterleavedConvKV,
    InterleavedQueryK,
)
from t2t_phrase.layers.recurrent.bidirectional_lstm import BidirectionalLSTM
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.layers.segments.attentive_pooling import AttentivePooling
from t2t_phrase.layers.segments.max_pooling import MaxPooling
from t2t_phrase.layers.segments.mean_pooling import MeanPooling
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer

SIZES = {"num_heads": 2, "hidden_size": 8}
IDS = np.array([[3, 4, 5, 0, 0], [2, 4, 6, 7, 3]])
MASK = IDS != 0


def embedded(ids: np.ndarray = IDS) -> Any:
    """Return vectors (B, S, 8), random at padding, too, with Keras' mask."""
    keras.utils.set_random_seed(1)
    layer = keras.layers.Embedding(9, 8, mask_zero=True, embeddings_initializer="normal")
    return layer(ids)


def bare(x: Any) -> Any:
    """Return the same vectors without a mask."""
    return keras.ops.convert_to_tensor(np.asarray(x))


def first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


ATTENTIONS = {
    "multi_head": lambda: MultiHeadAttention(**SIZES),
    "relative": lambda: RelativeMultiHeadAttention(max_relative_position=2, **SIZES),
    "homogeneous_convkv": lambda: HomogeneousConvKV(orders=(1, 2), head_counts=(1, 1), **SIZES),
    "heterogeneous_queryk": lambda: HeterogeneousQueryK(orders=(1, 2), **SIZES),
    "interleaved_convkv": lambda: InterleavedConvKV(orders=(1, 2), **SIZES),
    "interleaved_queryk": lambda: InterleavedQueryK(orders=(1, 2), **SIZES),
    "global": lambda: GlobalAttention(score=GeneralScore(), units=8),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name):
    layer = ATTENTIONS[name]()
    x = embedded()
    found = first(layer(x, x))
    expected = first(layer(bare(x), bare(x), attention_mask=MASK[:, None, None, :]))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    unmasked = first(layer(bare(x), bare(x)))
    assert np.abs(np.asarray(found) - np.asarray(unmasked))[0].max() > 1e-4
    np.testing.assert_array_equal(found._keras_mask, MASK)


@pytest.mark.parametrize("axes", [2, 3, 4])
@pytest.mark.parametrize("by_place", [False, True])
def test_both_masks_count(by_place, axes):
    layer = MultiHeadAttention(**SIZES)
    x = embedded()
    causal = np.tril(np.ones((5, 5), bool))[None, None]
    given = causal.reshape(causal.shape[4 - axes :])
    found = layer(x, x, given)[0] if by_place else layer(x, x, attention_mask=given)[0]
    both = causal & MASK[:, None, None, :]
    np.testing.assert_allclose(found, layer(bare(x), bare(x), attention_mask=both)[0], atol=1e-6)


def encoder_layer() -> EncoderLayer:
    return EncoderLayer(
        self_attention=MultiHeadAttention(**SIZES),
        feed_forward=FeedForward(hidden_size=8, filter_size=16),
    )


def test_a_stack_of_encoder_layers_ignores_padding():
    layers = [encoder_layer() for _ in range(2)]
    x = embedded()
    short = embedded(IDS[:1, :3])
    for layer in layers:
        x, short = layer(x)[0], layer(short)[0]
    np.testing.assert_allclose(x[:1, :3], short, atol=1e-5)
    np.testing.assert_array_equal(x._keras_mask, MASK)


def test_decoder_layer_masks_both_sides():
    layer = DecoderLayer(
        self_attention=MultiHeadAttention(**SIZES),
        cross_attention=MultiHeadAttention(**SIZES),
        feed_forward=FeedForward(hidden_size=8, filter_size=16),
    )
    x, memory = embedded(IDS[:, ::-1][:, :4]), embedded()
    own = (IDS[:, ::-1][:, :4] != 0)[:, None, None, :]
    expected = layer(bare(x), bare(memory), attention_mask=own, memory_mask=MASK[:, None, None, :])[
        0
    ]
    np.testing.assert_allclose(layer(x, memory)[0], expected, atol=1e-6)


def test_padding_is_in_no_segment():
    layer = MultiGranularityAttention(
        hidden_size=8,
        heads=("tokens", "pairs"),
        partitions=("pairs",),
        composition=MaxComposition(num_heads=1),
    )
    x = embedded()
    pairs = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]], bool)
    membership = np.repeat(pairs[None, None], 2, axis=0)
    inside = membership & MASK[:, None, None]
    expected = layer(bare(x), inside, attention_mask=MASK[:, None, None])
    for found, own in zip(layer(x, membership), expected, strict=True):
        np.testing.assert_allclose(found, own, atol=1e-6)
    # A mask of fewer axes is broadcast.
    found = layer(bare(x), inside, attention_mask=np.ones(5, bool))[0]
    np.testing.assert_allclose(found, layer(bare(x), inside)[0], atol=1e-6)


@pytest.mark.parametrize("make", [LSTM, BidirectionalLSTM])
def test_recurrent_layers(make):
    layer = make(units=8)
    x = embedded()
    (found, state), (expected, other) = layer(x), layer(bare(x), mask=MASK)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(state[0], other[0], atol=1e-6)
    np.testing.assert_array_equal(found._keras_mask, MASK)


def test_lstm_with_an_initial_state():
    layer = LSTM(units=8)
    x = embedded()
    start = layer.start_state(2)
    found = layer(x, initial_state=start)[0]
    np.testing.assert_allclose(found, layer(bare(x), mask=MASK)[0], atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        MaxPooling,
        MeanPooling,
        lambda: AttentivePooling(glance=MaxPooling(), hidden_size=8, units=4),
    ],
    ids=["max", "mean", "attentive"],
)
def test_pooling_leaves_padding_out(make):
    layer = make()
    x = embedded()
    membership = np.zeros((2, 2, 5), bool)
    membership[:, 0, :2] = membership[:, 1, 2:] = True
    expected = layer(bare(x), membership & MASK[:, None, :])[0]
    found = layer(x, membership)[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert getattr(found, "_keras_mask", None) is None


@pytest.mark.parametrize("make", [encoder_layer, lambda: BidirectionalLSTM(units=8)])
def test_a_functional_model_for_any_length(make):
    ids = keras.Input((None,), dtype="int32")
    x = TokenEmbedding(vocab_size=9, hidden_size=8, mask_zero=True)(ids)
    model = keras.Model(ids, make()(x)[0])
    np.testing.assert_allclose(model(IDS)[:1, :3], model(IDS[:1, :3]), atol=1e-5)


def test_a_functional_model_in_a_file(tmp_path):
    ids = keras.Input((5,), dtype="int32")
    x = TokenEmbedding(vocab_size=9, hidden_size=8, mask_zero=True)(ids)
    x = MultiHeadAttention(**SIZES)(x, x)[0]
    causal = np.tril(np.ones((5, 5), bool))
    model = keras.Model(ids, MultiHeadAttention(**SIZES)(x, x, causal)[0])
    found = model(IDS)
    short = model(np.pad(IDS[:, 1:], ((0, 0), (0, 1)), constant_values=3))
    assert np.abs(np.asarray(found)[0, 4] - np.asarray(short)[0, 4]).max() > 1e-4
    model.save(tmp_path / "model.keras")
    # Names of operations begin anew, as in another process.
    keras.utils.clear_session()
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(IDS), found)
    assert len(loaded.operations) == len(model.operations)


@needs_jax
def test_layers_that_jax_compiles():
    run_under("""
import jax, keras, numpy as np
from t2t_phrase.layers import MultiHeadAttention

embedding = keras.layers.Embedding(9, 8, mask_zero=True)
attention = MultiHeadAttention(num_heads=2, hidden_size=8)
causal = np.tril(np.ones((5, 5), bool))
ids = np.array([[3, 4, 5, 0, 0], [2, 4, 6, 7, 3]])

def call(ids):
    x = embedding(ids)
    return attention(x, x)[0], attention(x, x, attention_mask=causal)[0]

expected = call(ids)
for one, other in zip(jax.jit(call)(ids), expected):
    np.testing.assert_allclose(one, other, atol=1e-6)
""")


@pytest.mark.parametrize("name", ATTENTIONS)
def test_a_mask_of_three_axes_is_refused(name):
    # Keras' own attention reads (B, T, S), broadcasting (H, T, S).
    x = bare(embedded())
    attention, mask = ATTENTIONS[name](), np.ones((2, 5, 5), bool)
    attention(x, x, attention_mask=mask[:, None])
    with pytest.raises(ValueError, match=r"\(2, 5, 5\) is ambiguous: add an axis for the heads"):
        attention(x, x, attention_mask=mask)
    layer = EncoderLayer(
        self_attention=MultiHeadAttention(**SIZES),
        feed_forward=FeedForward(hidden_size=8, filter_size=16),
    )
    with pytest.raises(ValueError, match="is ambiguous"):
        layer(x, mask)
