import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.insights.heat_map import Group
from t2t_phrase.insights.labels import Token
from t2t_phrase.insights.pictures import Choice, blocks_of_head, choose, draw
from t2t_phrase.layers.attention.layout import TOKENS, AttentionMap, Layout, Units
from t2t_phrase.layers.luong.window import Windows

SOURCE = [Token("a"), Token("b"), Token("c"), Token("<EOS>")]
TARGET = [Token("x"), Token("y", True), Token("<EOS>")]
HEADS = 3
TWO, THREE = Units(2), Units(3)
INTERLEAVED = Layout(HEADS, (TOKENS, TWO), (TOKENS, TWO))
HOMOGENEOUS = Layout(HEADS, columns_by_head=(TOKENS, TWO, TWO), reaches_back=True)
MAPS = {
    "encoder": AttentionMap("encoder self-attention", "source", "source", (INTERLEAVED,)),
    "decoder": AttentionMap(
        "decoder self-attention", "target", "earlier target", (HOMOGENEOUS, Layout(HEADS))
    ),
    "cross": AttentionMap(
        "cross-attention", "target", "source", (Layout(HEADS, columns=(TOKENS, THREE)),) * 2
    ),
}


def draw_weights(rows, columns):
    return np.random.default_rng(0).random((1, HEADS, rows, columns))


WEIGHTS = {
    "encoder": [draw_weights(8, 8)],
    "decoder": [draw_weights(3, 3)] * 2,
    "cross": [draw_weights(3, 8)] * 2,
}


def test_ngrams_that_do_not_exist_are_left_out():
    weights = WEIGHTS["encoder"][0][0]
    blocks, queries, keys = blocks_of_head(weights, INTERLEAVED, None, SOURCE, SOURCE, {})
    mean = weights.mean(axis=0)
    expected = [[mean[:4, :4], mean[:4, 5:]], [mean[5:, :4], mean[5:, 5:]]]
    for row, expected_row in zip(blocks, expected, strict=True):
        for block, expected_block in zip(row, expected_row, strict=True):
            np.testing.assert_allclose(block, expected_block)
    tokens, bigrams = ["a", "b", "c", "<EOS>"], ["a b", "b c", "c <EOS>"]
    places = [(i, i) for i in range(4)], [(i, i + 1) for i in range(3)]
    assert (
        queries
        == keys
        == [
            Group("tokens", tokens, places[0]),
            Group("2-grams", bigrams, places[1]),
        ]
    )
    blocks, _, _ = blocks_of_head(weights, INTERLEAVED, 2, SOURCE, SOURCE, {})
    np.testing.assert_array_equal(blocks[1][0], weights[2, 5:, :4])


def test_short_sentences_lack_high_orders():
    layout = Layout(HEADS, (TOKENS, THREE), (TOKENS, THREE))
    blocks, queries, keys = blocks_of_head(draw_weights(4, 8)[0], layout, 0, SOURCE[:2], SOURCE, {})
    assert [group.kind for group in queries] == ["tokens"]
    assert [group.kind for group in keys] == ["tokens", "3-grams"]
    assert [block.shape for block in blocks[0]] == [(2, 4), (2, 2)]
    layout = Layout(HEADS, columns=(TWO, THREE))
    with pytest.raises(
        UserError, match=r"1 tokens is too short .* between tokens, 2-grams, 3-grams"
    ):
        blocks_of_head(draw_weights(3, 2)[0], layout, 0, TARGET, SOURCE[:1], {})


def test_heads_of_a_homogeneous_attention_belong_to_their_order():
    weights, layout = WEIGHTS["decoder"][0][0], HOMOGENEOUS
    blocks, _, keys = blocks_of_head(weights, layout, None, TARGET, TARGET, {})
    np.testing.assert_allclose(blocks[0][0], weights[0])
    np.testing.assert_allclose(blocks[0][1], weights[1:].mean(axis=0))
    # With padding at the left, an n-gram ends at each token.
    assert keys == [
        Group("tokens", ["x", "##y", "<EOS>"], [(0, 0), (1, 1), (2, 2)]),
        Group("2-grams", ["x", "xy", "##y <EOS>"], [(0, 0), (0, 1), (1, 2)]),
    ]
    blocks, _, keys = blocks_of_head(weights, layout, 2, TARGET, TARGET, {})
    assert [group.kind for group in keys] == ["2-grams"]
    np.testing.assert_allclose(blocks[0][0], weights[2])


def test_every_attention_and_layer_is_drawn():
    found = list(draw(WEIGHTS, MAPS, SOURCE, TARGET, caption="set, step 3"))
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
    decoder, cross = (figure for _, figure in draw(WEIGHTS, MAPS, SOURCE, TARGET, choice=choice))
    assert decoder.get_suptitle() == "decoder self-attention, layer 2, head 1"
    assert [t.get_text() for t in decoder.axes[0].get_yticklabels()] == ["x", "##y", "<EOS>"]
    assert [t.get_text() for t in decoder.axes[0].get_xticklabels()] == ["<start>", "x", "##y"]
    assert [t.get_text() for t in decoder.axes[0].texts] == [
        "from target\ntokens",
        "to earlier target\ntokens",
    ]
    assert [t.get_text() for t in cross.axes[0].get_yticklabels()] == ["x", "##y", "<EOS>"]
    assert [t.get_text() for t in cross.axes[1].get_xticklabels()] == ["a b c", "b c <EOS>"]


def test_partitions_have_segments_on_one_side():
    phrases = (Units(partition="phrases"),)
    to_phrases = (Layout(HEADS, columns=phrases),)
    maps = {
        "encoder_phrases": AttentionMap("to phrases", "source", "source", to_phrases),
        "decoder_phrases": AttentionMap("decoder to phrases", "target", "source", to_phrases),
        "pooling": AttentionMap("pooling", "source", "source", (Layout(0, rows=phrases),) * 2),
    }
    # The third row has no tokens.
    membership = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], bool)
    pooling = np.random.default_rng(1).random((1, 3, 4))
    weights = {
        "encoder_phrases": [draw_weights(4, 3)],
        "decoder_phrases": [draw_weights(3, 3)],
        "pooling": [pooling, 2 * pooling],
    }
    found = dict(draw(weights, maps, SOURCE, TARGET, partitions={"phrases": membership}))
    assert list(found) == [
        "encoder_phrases_layer1_mean",
        "decoder_phrases_layer1_mean",
        "pooling_layer1",
        "pooling_layer2",
    ]
    decoder, pooled = found["decoder_phrases_layer1_mean"], found["pooling_layer2"]
    assert decoder.get_suptitle() == "decoder to phrases, layer 1, mean over heads"
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
    assert pooled.get_suptitle() == "pooling, layer 2"
    assert [t.get_text() for t in pooled.axes[0].get_yticklabels()] == ["a b", "c <EOS>"]
    np.testing.assert_allclose(pooled.axes[0].images[0].get_array(), 2 * pooling[0, :2])
    choice = Choice(("decoder_phrases",), heads=(1,))
    (head,) = draw(weights, maps, SOURCE, TARGET, partitions={"phrases": membership}, choice=choice)
    assert head.name == "decoder_phrases_layer1_head1"
    np.testing.assert_allclose(
        head.figure.axes[0].images[0].get_array(), weights["decoder_phrases"][0][0, 1, :, :2]
    )


class ToyModel:
    """A model unknown to insights: its heads attend to tokens or to segments of two partitions.

    One cross-attention, of two layers, the second with a head more.
    """

    def attention_maps(self):
        chunks, trees = Units(partition="chunks"), Units(partition="trees")
        first = Layout(3, columns_by_head=(TOKENS, chunks, trees))
        second = Layout(4, columns_by_head=(TOKENS, chunks, trees, trees))
        return {"cross": AttentionMap("toy attention", "target", "source", (first, second))}

    def partitions(self, features):
        del features
        chunks = np.array([[1, 1, 1, 0], [0, 0, 0, 1]], bool)
        trees = np.array([[1, 0, 0, 0], [0, 1, 1, 1]], bool)
        return {"chunks": chunks[None], "trees": trees[None]}

    def attention_weights(self, features):
        del features
        return {"cross": [np.random.default_rng(h).random((1, h, 3, 4)) for h in (3, 4)]}


def test_a_model_with_heads_over_tokens_and_over_segments():
    model = ToyModel()
    weights = model.attention_weights({})
    partitions = {name: rows[0] for name, rows in model.partitions({}).items()}
    maps = model.attention_maps()
    choice = choose(maps, heads=["mean", "all"])
    assert choice.heads == ("mean", 0, 1, 2, 3)
    found = dict(draw(weights, maps, SOURCE, TARGET, partitions=partitions, choice=choice))
    assert list(found) == [
        *(f"cross_layer1_{name}" for name in ("mean", "head0", "head1", "head2")),
        *(f"cross_layer2_{name}" for name in ("mean", "head0", "head1", "head2", "head3")),
    ]
    *blocks, _ = found["cross_layer2_mean"].axes
    labels = [[t.get_text() for t in ax.get_xticklabels()] for ax in blocks]
    assert labels == [["a", "b", "c", "<EOS>"], ["a b c", "<EOS>"], ["a", "b c <EOS>"]]
    headings = ["to source\ntokens", "to source\nchunks", "to source\ntrees"]
    assert [ax.texts[-1].get_text() for ax in blocks] == headings
    layer = weights["cross"][1][0]
    expected = [layer[0], layer[1, :, :2], layer[2:, :, :2].mean(axis=0)]
    for ax, values in zip(blocks, expected, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), values, rtol=1e-6)
    (block, _) = found["cross_layer1_head1"].axes
    np.testing.assert_allclose(
        block.images[0].get_array(), weights["cross"][0][0, 1, :, :2], rtol=1e-6
    )


def test_windows_are_of_tokens_not_of_words():
    maps = {"cross": AttentionMap("cross-attention", "target", "source", (Layout(HEADS),))}
    windows = {"cross": [Windows(np.array([[0, 1, 3]]), np.array([[0.0, 1.0, 3.0]]), 1, None)]}
    given = ({"cross": [draw_weights(3, 4)]}, maps, SOURCE, TARGET)
    for words in (False, True):
        (picture,) = draw(*given, windows=windows, choice=Choice(words=words))
        (ax, *_) = picture.figure.axes
        assert bool(ax.patches) == bool(ax.lines) == (not words)


def test_choices():
    assert choose(MAPS) == Choice()
    assert choose(
        MAPS, attentions=["cross"], layers=["2", "1", "2"], heads=["mean", "1"]
    ) == Choice(("cross",), (2, 1), ("mean", 1))
    assert choose(MAPS, heads=["all"]).heads == (0, 1, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"heads": ["3"]}, "--heads=3: the model has heads 0 to 2; choose from these, mean or all"),
        ({"heads": ["-1"]}, "--heads=-1: the model has heads 0 to 2"),
        ({"heads": ["max"]}, "--heads=max: the model has heads 0 to 2"),
        ({"layers": ["0"]}, "--layers=0: the model has layers 1 to 2; choose from these$"),
        ({"attentions": ["encoder"], "layers": ["2"]}, "--layers=2: the model has layers 1 to 1"),
        ({"attentions": ["cros"]}, "--attentions=cros: the model has enc.*did you mean cross"),
        ({"attentions": ["pooling"]}, "--attentions=pooling: the model has encoder, decoder, cros"),
    ],
)
def test_what_the_model_does_not_have(words, message):
    with pytest.raises(UserError, match=message):
        choose(MAPS, **words)


def test_a_model_without_attention_has_no_pictures():
    with pytest.raises(UserError, match="--heat_maps: the model has no attention"):
        choose({})
