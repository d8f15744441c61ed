import numpy as np
import pytest

from t2t_phrase.insights.labels import Token, ngram_labels, segment_labels, tokens_of
from t2t_phrase.insights.words import word_labels
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.subwords.training import train_subwords


@pytest.fixture(scope="module")
def subwords():
    return SubwordEncoder(train_subwords(["house houses a red house"] * 3, vocab_size=300))


def test_pieces_of_words_are_marked(subwords):
    ids = [*subwords.encode("a redhouses"), 1]
    tokens = tokens_of(ids, subwords)
    assert len(tokens) == len(ids)
    assert tokens[0] == Token("a") and tokens[-1] == Token("<EOS>")
    continued = [token.continues for token in tokens]
    assert continued == [not p.startswith("▁") for p in subwords.pieces(ids[:-1])] + [False]
    labels = ngram_labels(tokens, 1)
    assert labels[-1] == "<EOS>" and labels[-2].startswith("##")
    assert ngram_labels(tokens, len(ids))[-1] == "a redhouses <EOS>"


def test_bytes_of_a_character_do_not_begin_words(subwords):
    text = "red Erdős\x04a naïve 日本"
    ids = [*subwords.encode(text), 1]
    assert "<0xC5>" in subwords.pieces(ids[:-1])
    tokens = tokens_of(ids, subwords)
    continued = [token.continues for token in tokens]
    assert continued == [not p.startswith("▁") for p in subwords.pieces(ids[:-1])] + [False]
    assert word_labels(tokens) == ["red", "Erdős<0x04>a", "naïve", "日本", "<EOS>"]


def test_tensor2tensors_pieces_too():
    pieces = ["<pad>", "<EOS>", *"\\_u;0123456789", "hous", "es_", "a_", "._"]
    encoder = T2TSubwords(pieces)
    tokens = tokens_of([*encoder.encode("a houses."), 1], encoder)
    assert ngram_labels(tokens, 1) == ["a", "hous", "##es", "##.", "<EOS>"]
    assert ngram_labels(tokens, 2) == ["a", "a hous", "houses", "##es.", "##. <EOS>"]


def test_ngrams_of_three():
    tokens = [Token("a"), Token("b", True), Token("c"), Token("d", True), Token("<EOS>")]
    assert ngram_labels(tokens, 3) == ["a", "ab", "ab c", "##b cd", "cd <EOS>"]


def test_segments_of_a_partition():
    tokens = [Token("a"), Token("b", True), Token("c", True), Token("d"), Token("<EOS>")]
    membership = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0]], bool)
    assert segment_labels(tokens, membership) == ["ab", "##c d <EOS>"]


def test_a_boundary_of_its_own_is_part_of_its_word():
    tokens = [Token("a"), Token("▁"), Token(".", True), Token("b", True), Token("▁")]
    assert ngram_labels(tokens, 1) == ["a", "▁", "##.", "##b", "▁"]
    assert ngram_labels(tokens, 2) == ["a", "a ▁", ".", "##.b", "##b ▁"]
    assert ngram_labels(tokens, 3) == ["a", "a ▁", "a .", ".b", "##.b ▁"]


def test_control_characters_are_shown_as_bytes():
    encoder = SubwordEncoder(train_subwords(["a house"] * 3, vocab_size=300))
    tokens = tokens_of(encoder.encode("a \x04"), encoder)
    assert all(token.text.isprintable() for token in tokens)
    assert tokens[-1].text == "<0x04>"
