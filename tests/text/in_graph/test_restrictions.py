"""Terms inside a graph against those of the decoder."""

from __future__ import annotations

import functools

import pytest
import tensorflow as tf
from hard_text import LINES, foreign_model

from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import MOST_TOKENS
from t2t_phrase.decoding.prefixes import Prefixes
from t2t_phrase.decoding.search import forbidden
from t2t_phrase.decoding.terms import RequiredTerms
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.reader import read_dictionary
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.in_graph.restrictions import GraphTerms, prefixes_in_graph, terms_in_graph
from t2t_phrase.text.in_graph.spellings import TfSpellings
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.token_texts import TokenTexts
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

ENCODER = WordEncoder(train_words(["the house is old and a cat sleeps in it"] * 2, vocab_size=40))
GRAPH_ENCODER = make_tf_encoder(ENCODER.model_bytes)
SPELLINGS = TfSpellings(TokenTexts(ENCODER))


def in_graph(texts: list[str], dictionaries: list[str], limits: list[int]) -> GraphTerms:
    return terms_in_graph(
        tf.constant(texts),
        tf.constant(dictionaries),
        tf.constant(limits),
        GRAPH_ENCODER,
        SPELLINGS,
        most_tokens=MOST_TOKENS,
        first_place=forbidden.FIRST_PLACE,
    )


@pytest.mark.parametrize("room", [0, 3, 50])
def test_the_decoder_reads_the_same_prefixes(room: int) -> None:
    subwords = SubwordEncoder(train_subwords(["the house is old"], vocab_size=280))
    given = ["the house", "a househouse", "the ", "", "zz"]
    limits = [len(subwords.encode(text)) + 2 + room for text in given]
    spellings = TfSpellings(TokenTexts(subwords))
    graph_encoder = make_tf_encoder(subwords.model_bytes)
    found = prefixes_in_graph(tf.constant(given), tf.constant(limits), graph_encoder, spellings)
    expected = Prefixes(subwords).encode_all(given, limits, name="p")
    for row, own in enumerate(expected):
        ranges = [tuple(pair) for pair in found.ranges[row].numpy().tolist()]
        assert [token for token in found.tokens[row].numpy().tolist() if token] == [*own.tokens]
        assert [p for p in ranges if p[0] < p[1]] == [p for p in own.ranges if p[0] < p[1]]
        assert {tuple(edge) for edge in found.edges[row].numpy().tolist()} >= {*own.edges}
    assert found.kept.numpy().all()


def test_a_prefix_that_the_vocabulary_changes_is_not_kept() -> None:
    """As where it cannot spell one, which the decoder refuses."""
    rules = {"byte_fallback": True, "normalization_rule_name": "nmt_nfkc_cf"}
    subwords = SubwordEncoder(foreign_model(LINES, **rules))
    given = ["The ", "The dog", "the dog", "the d\u2581g ", "the Dog"]
    spelt = []
    for text in given:
        try:
            Prefixes(subwords).encode(text, longest=50, where="p")
            spelt.append(True)
        except UserError:
            spelt.append(False)
    assert spelt == [False, False, True, False, True]
    found = prefixes_in_graph(
        tf.constant(given),
        tf.fill([len(given)], 50),
        make_tf_encoder(subwords.model_bytes),
        TfSpellings(TokenTexts(subwords)),
    )
    assert found.kept.numpy().tolist() == spelt
    assert tf.reduce_any(found.tokens > 0, axis=1).numpy().tolist() == spelt


def rows_of(found: GraphTerms, sentence: int) -> list[list[list[int]]]:
    """Return the alternatives of each row that has any, without padding."""
    rows = found.terms[sentence].numpy().tolist()
    rows = [[[token for token in own if token] for own in row] for row in rows]
    return [[own for own in row if own] for row in rows if any(map(any, row))]


@functools.cache
def decoder() -> RequiredTerms:
    return RequiredTerms((), ENCODER)


@pytest.mark.parametrize("limit", [2, 3, 4, 6, 20])
def test_the_decoder_requires_the_same(limit: int) -> None:
    texts = ["a the house a", "the house the house", "is", "the a house is a the"]
    lines = [
        "a\tcat\nthe house\tit is\nthe\told\nthe\tin it",
        "house\told cat",
        "",
        "a\tin\nis\tit",
    ]
    found = in_graph(texts, lines, [limit] * len(texts))
    for place, (text, own) in enumerate(zip(texts, lines, strict=True)):
        entries = read_dictionary(own.split("\n"), "d", "require") if own else []
        expected = decoder().apply(Sentence(text, ENCODER.encode(text), ()), entries, longest=limit)
        assert rows_of(found, place) == [[list(o) for o in row] for row in expected.tokens]
        assert found.matched[place] == expected.matched


def test_occurrences_without_room_take_none() -> None:
    found = in_graph(["the house " * 50, "the"], ["the\told", "the\tin"], [6, 6])
    assert found.matched.numpy().tolist() == [50, 1]
    assert found.terms.shape[:2] == (2, 5)
    assert in_graph(["the house"], ["the\told"], [1]).terms.shape[:2] == (1, 1)


def test_the_search_is_given_no_more_than_it_can_read() -> None:
    alternatives = "\n".join("a\t" + "it " * size for size in range(40, 0, -1))
    found = in_graph(["a cat"], [alternatives], [100])
    assert [len(own) for own in rows_of(found, 0)[0]] == list(range(40, 24, -1))
    # The shortest one that counts has 25 tokens.
    assert not rows_of(in_graph(["a cat"], [alternatives], [25]), 0)
    most, longest = ("\n".join(["\t!cat"] * count) for count in (256, 300))
    assert in_graph(["a"], [longest], [9]).edges.shape == in_graph(["a"], [most], [9]).edges.shape
    assert not in_graph(["a"], ["\t!" + "cat " * 100], [9]).edges.numpy().any()
    assert in_graph(["a"], ["\t!" + "a " * 100], [9]).edges.numpy().any()
    assert not in_graph(["a"], ["\t!" + "a " * 101], [9]).edges.numpy().any()
