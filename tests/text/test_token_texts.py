"""The tokens that spell texts, against all tokens one by one."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.in_graph.spellings import TfSpellings
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.token_texts import TokenTexts, first_char, last_char, spelt
from t2t_phrase.text.words.training import train_words

LINES = ["die große Bank , das Ufer", "Banken und Ufer ( am Bach ) ."] * 4
TEXTS = ["Bank", "große Ufer", "日", "(", "x"]


@pytest.fixture(scope="module", params=["subwords", "words"])
def texts(request: pytest.FixtureRequest) -> TokenTexts:
    if request.param == "words":
        return TokenTexts(make_encoder(train_words(LINES, vocab_size=12)))
    return TokenTexts(make_encoder(train_subwords(LINES, vocab_size=300)))


@pytest.mark.parametrize("text", TEXTS)
def test_edges_and_ranks_are_those_of_all_tokens(texts: TokenTexts, text: str) -> None:
    whole = spelt(text)
    found = {tuple(edge) for edge in texts.edges(whole)}
    assert found == {
        (start, start + len(own), token)
        for token, own in enumerate(texts.texts)
        for start in range(len(whole))
        if own and whole[start : start + len(own)] == own
    }
    ranks = texts.tables.ranks
    for start in range(len(whole)):
        low, high = texts.ranks_beginning_with(whole[start:])
        for token, own in enumerate(texts.texts):
            begins = own.startswith(whole[start:]) and own != b""
            assert begins == (low <= ranks[token] < high)


def test_a_graph_finds_the_same(texts: TokenTexts) -> None:
    spellings = TfSpellings(texts)
    given = [spelt(text) for text in TEXTS]
    edges, ranks = (of(tf.constant(given)).numpy() for of in (spellings.edges, spellings.ranks))
    for row, text in enumerate(given):
        found = sorted(map(tuple, edges[row][edges[row][:, 2] > 0].tolist()))
        assert found == sorted(map(tuple, texts.edges(text)))
        for start in range(len(text)):
            low, high = texts.ranks_beginning_with(text[start:])
            assert ranks[row, start].tolist() == ([low, high] if low < high else [0, 0])


def test_words_begin_and_end_at_blanks_and_punctuation(texts: TokenTexts) -> None:
    tables = texts.tables
    for token, own in enumerate(texts.texts):
        text = own.decode(errors="replace")
        if token > 2 and "\ufffd" not in text:
            assert tables.begins_word[token] == (text[0] in " ,.()" or text[0] in "!'-\"?:;{}[]_")
            assert tables.ends_word[token] == (text[-1] in " ,.()!'-\"?:;{}[]_")
    assert tables.begins_word[:3].tolist() == [False, True, True]
    assert tables.ends_word[:3].tolist() == [True, False, True]
    assert np.sort(tables.ranks[3:]).tolist() == list(range(len(texts.texts) - 3))


def test_parts_of_characters_are_no_characters() -> None:
    assert (first_char("ß.".encode()), last_char(".ß".encode())) == ("ß", "ß")
    assert (first_char(b"\x9f."), last_char(b".\xc3"), first_char(b""), last_char(b"")) == ("",) * 4
