"""Attention between words."""

import numpy as np

from t2t_phrase.figure_files import FORMATS, picture_of
from t2t_phrase.insights.heat_map import Group, heat_map
from t2t_phrase.insights.labels import Token
from t2t_phrase.insights.pictures import Choice, blocks_of_head, draw, merge_words
from t2t_phrase.insights.words import between_words, word_groups, word_labels
from t2t_phrase.layers.attention.layout import TOKENS, AttentionMap, Layout, Units

TOKENS_OF_WORDS = [
    Token("straw"),
    Token("berr", True),
    Token("ies", True),
    Token("and"),
    Token("<EOS>"),
]


def test_words_are_runs_of_subwords():
    assert word_labels(TOKENS_OF_WORDS) == ["strawberries", "and", "<EOS>"]
    np.testing.assert_array_equal(word_groups(TOKENS_OF_WORDS).sum(axis=1), [3, 1, 1])
    assert word_labels([Token("a", True)]) == ["##a"]


def test_queries_are_averaged_and_keys_added():
    block = np.random.default_rng(0).random((5, 5))
    block /= block.sum(axis=1, keepdims=True)
    found = between_words(block, TOKENS_OF_WORDS, TOKENS_OF_WORDS)
    words = [[0, 1, 2], [3], [4]]
    for row, queries in enumerate(words):
        for column, keys in enumerate(words):
            expected = np.mean([sum(block[q, k] for k in keys) for q in queries])
            assert abs(found[row, column] - expected) < 1e-12
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_ngrams_stay_as_they_are():
    layout = Layout(2, (TOKENS, Units(2)), (TOKENS, Units(2)))
    weights = np.random.default_rng(0).random((2, 10, 10))
    parts = blocks_of_head(weights, layout, None, TOKENS_OF_WORDS, TOKENS_OF_WORDS, {})
    blocks, queries, keys = merge_words(*parts, TOKENS_OF_WORDS, TOKENS_OF_WORDS)
    assert [group.kind for group in queries] == ["words", "2-grams"]
    shapes = [[block.shape for block in row] for row in blocks]
    assert shapes == [[(3, 3), (3, 4)], [(4, 3), (4, 4)]]
    np.testing.assert_array_equal(blocks[1][1], parts[0][1][1])
    assert keys[0].labels == ["strawberries", "and", "<EOS>"]


def test_pictures_of_words():
    maps = {"encoder": AttentionMap("self-attention", "source", "source", (Layout(2),))}
    weights = {"encoder": [np.ones((1, 2, 5, 5))]}
    (picture,) = draw(weights, maps, TOKENS_OF_WORDS, [], choice=Choice(words=True))
    labels = [text.get_text() for text in picture.figure.axes[0].get_yticklabels()]
    assert labels == ["strawberries", "and", "<EOS>"]


def test_every_format_is_reproducible():
    beginnings = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert set(FORMATS) == set(beginnings)
    for kind, beginning in beginnings.items():
        one, other = (
            picture_of(heat_map([[np.eye(2)]], [Group("a", "xy")], [Group("b", "zw")]), kind)
            for _ in range(2)
        )
        assert one == other and one.startswith(beginning)
