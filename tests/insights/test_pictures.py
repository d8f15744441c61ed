import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.insights.heat_map import Group
from t2t_phrase.insights.labels import Token
from t2t_phrase.insights.layouts import Layout
from t2t_phrase.insights.pictures import Choice, blocks_of_head, choose, draw

SOURCE = [Token("a"), Token("b"), Token("c"), Token("<EOS>")]
TARGET = [Token("x"), Token("y", True), Token("<EOS>")]
HEADS = 3
LAYOUTS = {
    "encoder": [Layout("interleaved", (1, 2), (1, 2))],
    "decoder": [Layout("homogeneous", (1,), (1, 2), (1, 2)), Layout("plain")],
    "cross": [Layout("heterogeneous", (1,), (1, 3))] * 2,
}


def draw_weights(rows, columns):
    return np.random.default_rng(0).random((1, HEADS, rows, columns))


WEIGHTS = {
    "encoder": [draw_weights(8, 8)],
    "decoder": [draw_weights(3, 3)] * 2,
    "cross": [draw_weights(3, 8)] * 2,
}


def test_phrases_that_do_not_exist_are_left_out():
    weights = WEIGHTS["encoder"][0][0]
    blocks, queries, keys = blocks_of_head(weights, LAYOUTS["encoder"][0], None, SOURCE, SOURCE)
    mean = weights.mean(axis=0)
    expected = [[mean[:4, :4], mean[:4, 5:]], [mean[5:, :4], mean[5:, 5:]]]
    for row, expected_row in zip(blocks, expected, strict=True):
        for block, expected_block in zip(row, expected_row, strict=True):
            np.testing.assert_allclose(block, expected_block)
    assert (
        queries == keys == [Group(1, ["a", "b", "c", "<EOS>"]), Group(2, ["a b", "b c", "c <EOS>"])]
    )
    blocks, _, _ = blocks_of_head(weights, LAYOUTS["encoder"][0], 2, SOURCE, SOURCE)
    np.testing.assert_array_equal(blocks[1][0], weights[2, 5:, :4])


def test_short_sentences_lack_high_orders():
    layout = Layout("interleaved", (1, 3), (1, 3))
    blocks, queries, keys = blocks_of_head(draw_weights(4, 8)[0], layout, 0, SOURCE[:2], SOURCE)
    assert [group.order for group in queries] == [1] and [group.order for group in keys] == [1, 3]
    assert [block.shape for block in blocks[0]] == [(2, 4), (2, 2)]
    layout = Layout("heterogeneous", (1,), (2, 3))
    with pytest.raises(UserError, match="a sentence of 1 tokens has no phrase of the orders 2, 3"):
        blocks_of_head(draw_weights(3, 2)[0], layout, 0, TARGET, SOURCE[:1])


def test_heads_of_a_homogeneous_attention_belong_to_their_order():
    weights, layout = WEIGHTS["decoder"][0][0], LAYOUTS["decoder"][0]
    blocks, _, keys = blocks_of_head(weights, layout, None, TARGET, TARGET)
    np.testing.assert_allclose(blocks[0][0], weights[0])
    np.testing.assert_allclose(blocks[0][1], weights[1:].mean(axis=0))
    # Padding at the left: there is a phrase at each token.
    assert keys == [Group(1, ["x", "##y", "<EOS>"]), Group(2, ["x", "xy", "##y <EOS>"])]
    blocks, _, keys = blocks_of_head(weights, layout, 2, TARGET, TARGET)
    assert [group.order for group in keys] == [2]
    np.testing.assert_allclose(blocks[0][0], weights[2])


def test_every_attention_and_layer_is_drawn():
    found = list(draw(WEIGHTS, LAYOUTS, SOURCE, TARGET, caption="set, step 3"))
    assert [name for name, _ in found] == [
        "encoder_layer1_mean",
        "decoder_layer1_mean",
        "decoder_layer2_mean",
        "cross_layer1_mean",
        "cross_layer2_mean",
    ]
    assert [len(figure.axes) - 1 for _, figure in found] == [4, 2, 1, 2, 2]
    assert found[0][1].get_suptitle() == (
        "encoder self-attention, layer 1, mean over heads\nset, step 3"
    )


def test_the_decoder_has_read_what_came_before_the_token_it_produces():
    choice = Choice(("decoder", "cross"), (2,), (1,))
    decoder, cross = (figure for _, figure in draw(WEIGHTS, LAYOUTS, SOURCE, TARGET, choice=choice))
    assert decoder.get_suptitle() == "decoder self-attention, layer 2, head 1"
    assert [t.get_text() for t in decoder.axes[0].get_yticklabels()] == ["x", "##y", "<EOS>"]
    assert [t.get_text() for t in decoder.axes[0].get_xticklabels()] == ["<start>", "x", "##y"]
    assert [t.get_text() for t in decoder.axes[0].texts] == [
        "from target\ntokens",
        "to earlier target\ntokens",
    ]
    assert [t.get_text() for t in cross.axes[0].get_yticklabels()] == ["x", "##y", "<EOS>"]
    assert [t.get_text() for t in cross.axes[1].get_xticklabels()] == ["a b c", "b c <EOS>"]


def test_partitions_have_phrases_on_one_side():
    layouts = {
        "encoder_phrases": [Layout("segments")],
        "decoder_phrases": [Layout("segments")],
        "pooling": [Layout("pooling")] * 2,
    }
    # The third slot holds nothing.
    membership = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], bool)
    pooling = np.random.default_rng(1).random((1, 3, 4))
    weights = {
        "encoder_phrases": [draw_weights(4, 3)],
        "decoder_phrases": [draw_weights(3, 3)],
        "pooling": [pooling, 2 * pooling],
    }
    found = dict(draw(weights, layouts, SOURCE, TARGET, membership=membership))
    assert list(found) == [
        "encoder_phrases_layer1_mean",
        "decoder_phrases_layer1_mean",
        "pooling_layer1",
        "pooling_layer2",
    ]
    decoder, pooled = found["decoder_phrases_layer1_mean"], found["pooling_layer2"]
    assert decoder.get_suptitle() == "decoder's attention to phrases, layer 1, mean over heads"
    assert [t.get_text() for t in decoder.axes[0].get_xticklabels()] == ["a b", "c <EOS>"]
    assert [t.get_text() for t in decoder.axes[0].get_yticklabels()] == ["x", "##y", "<EOS>"]
    assert [t.get_text() for t in decoder.axes[0].texts] == [
        "from target\ntokens",
        "to source\nphrases",
    ]
    np.testing.assert_allclose(
        decoder.axes[0].images[0].get_array(),
        weights["decoder_phrases"][0][0].mean(axis=0)[:, :2],
    )
    assert pooled.get_suptitle() == "pooling of tokens, layer 2"
    assert [t.get_text() for t in pooled.axes[0].get_yticklabels()] == ["a b", "c <EOS>"]
    np.testing.assert_allclose(pooled.axes[0].images[0].get_array(), 2 * pooling[0, :2])
    choice = Choice(("decoder_phrases",), heads=(1,))
    (head,) = draw(weights, layouts, SOURCE, TARGET, membership=membership, choice=choice)
    assert head.name == "decoder_phrases_layer1_head1"
    np.testing.assert_allclose(
        head.figure.axes[0].images[0].get_array(), weights["decoder_phrases"][0][0, 1, :, :2]
    )


def test_choices():
    assert choose(LAYOUTS, HEADS) == Choice()
    assert choose(
        LAYOUTS, HEADS, attentions=["cross"], layers=["2", "1", "2"], heads=["mean", "1"]
    ) == Choice(("cross",), (2, 1), ("mean", 1))
    assert choose(LAYOUTS, HEADS, heads=["all"]).heads == (0, 1, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"heads": ["3"]}, "--heads=3: the model has heads 0 to 2; give those, mean or all"),
        ({"heads": ["-1"]}, "--heads=-1: the model has heads 0 to 2"),
        ({"heads": ["max"]}, "--heads=max: the model has heads 0 to 2"),
        ({"layers": ["0"]}, "--layers=0: the model has layers 1 to 2; give those$"),
        ({"attentions": ["encoder"], "layers": ["2"]}, "--layers=2: the model has layers 1 to 1"),
        ({"attentions": ["cros"]}, "--attentions=cros: the model has enc.*did you mean cross"),
        ({"attentions": ["pooling"]}, "--attentions=pooling: the model has encoder, decoder, cros"),
    ],
)
def test_what_the_model_does_not_have(words, message):
    with pytest.raises(UserError, match=message):
        choose(LAYOUTS, HEADS, **words)
