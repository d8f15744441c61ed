import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.insights.layouts import Layout, layout_of, model_layouts, split_blocks
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.models.phrase_representation import (
    PhraseRepresentationHParams,
    PhraseRepresentationTransformer,
)
from t2t_phrase.models.phrase_transformer import PhraseHParams, PhraseTransformer

BATCH, HEADS, QUERIES, KEYS = 2, 5, 3, 4
HPARAMS = PhraseHParams(
    hidden_size=10,
    filter_size=4,
    num_heads=HEADS,
    num_encoder_layers=2,
    num_decoder_layers=1,
    encoder_attention="interleaved_convkv",
    encoder_orders=(1, 3),
    decoder_attention="homogeneous_queryk",
    decoder_orders=(1, 2),
    decoder_head_counts=(2, 3),
    cross_attention="heterogeneous_queryk",
    cross_orders=(2, 3),
)


def test_source_phrases_have_layouts_of_their_own() -> None:
    hparams = PhraseRepresentationHParams(
        hidden_size=8, filter_size=4, num_heads=2, num_encoder_layers=1, num_decoder_layers=2
    )
    model = PhraseRepresentationTransformer.from_hparams(hparams, vocab_size=8)
    layouts = model_layouts(model)
    features = {"inputs": np.array([[3, 4, 1]]), "targets": np.array([[5, 1]])}
    weights = model.attention_weights(features)
    assert {name: len(stack) for name, stack in layouts.items()} == {
        name: len(stack) for name, stack in weights.items()
    }
    assert layouts["decoder_phrases"] == [Layout("segments")] * 2
    assert layouts["pooling"] == [Layout("pooling")] * 2
    assert not any(layout.has_phrases for stack in layouts.values() for layout in stack)


def test_layouts_are_those_of_the_layers() -> None:
    model = PhraseTransformer(HPARAMS, 8)
    interleaved = Layout("interleaved", (1, 3), (1, 3))
    assert model_layouts(model) == {
        "encoder": [interleaved, interleaved],
        "decoder": [Layout("homogeneous", (1,), (1, 2), (2, 3))],
        "cross": [Layout("heterogeneous", (1,), (2, 3))],
    }
    plain = HPARAMS.replace(
        decoder_attention="none",
        decoder_orders=(),
        decoder_head_counts=(),
        max_relative_position=4,
    )
    (layout,) = model_layouts(PhraseTransformer(plain, 8))["decoder"]
    assert layout == Layout("plain")
    assert not layout.has_phrases and interleaved.has_phrases


def test_another_layer_is_refused() -> None:
    with pytest.raises(UserError, match="attention FeedForward: insights can read plain, homog"):
        layout_of(FeedForward(hidden_size=2, filter_size=2, dropout=0.0))


@pytest.mark.parametrize(
    "layout",
    [
        Layout("plain"),
        Layout("heterogeneous", (1,), (1, 2, 4)),
        Layout("interleaved", (1, 2), (1, 2)),
        Layout("interleaved", (1, 2, 3), (1, 2, 3)),
    ],
)
def test_each_block_is_that_of_its_orders(layout: Layout) -> None:
    count, width = len(layout.query_orders), len(layout.key_orders)
    weights = np.random.default_rng(0).normal(size=(BATCH, HEADS, count * QUERIES, width * KEYS))
    blocks = split_blocks(weights, layout)
    seen = 0
    for row in range(weights.shape[2]):
        for column in range(weights.shape[3]):
            m, i = divmod(row, QUERIES)
            n, j = divmod(column, KEYS)
            np.testing.assert_array_equal(blocks[m][n][:, :, i, j], weights[:, :, row, column])
            seen += 1
    assert seen == sum(block.shape[2] * block.shape[3] for row in blocks for block in row)


def test_homogeneous_blocks_are_heads() -> None:
    layout = Layout("homogeneous", (1,), (1, 2, 3), (2, 1, 2))
    weights = np.random.default_rng(0).normal(size=(BATCH, HEADS, QUERIES, KEYS))
    ((first, second, third),) = split_blocks(weights, layout)
    np.testing.assert_array_equal(first, weights[:, [0, 1]])
    np.testing.assert_array_equal(second, weights[:, [2]])
    np.testing.assert_array_equal(third, weights[:, [3, 4]])
    assert [layout.order_of_head(head) for head in range(HEADS)] == [1, 1, 2, 3, 3]
