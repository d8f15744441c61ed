"""Dictionaries inside a graph against those of the translator."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from hard_text import LINES as HARD
from hard_text import foreign_model
from hypothesis import given, settings
from hypothesis import strategies as st
from mostly_slow import mostly_slow

from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import MOST_TOKENS, Dictionary
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.reader import read_dictionary
from t2t_phrase.text.encoders import StoredEncoder
from t2t_phrase.text.in_graph.dictionaries import entries_in_graph
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

LINES = ["the house is old and small", "a cat sleeps in it", "far away from here", "a b c a b"]
ENCODERS: dict[str, StoredEncoder] = {
    "subwords": SubwordEncoder(train_subwords(LINES * 20, vocab_size=280)),
    "words": WordEncoder(train_words(LINES, vocab_size=40)),
}
GRAPHS: dict[str, Any] = {}


def in_graph(name: str, texts: list[str], dictionaries: list[str]) -> Any:
    """Return what the graph finds; it is traced once."""
    if name not in GRAPHS:
        encoder = make_tf_encoder(ENCODERS[name].model_bytes)

        @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)] * 2)
        def run(texts: Any, dictionaries: Any) -> Any:
            _, starts = encoder.encode_with_starts(texts)
            return entries_in_graph(texts, starts, dictionaries, encoder, most_tokens=MOST_TOKENS)

        GRAPHS[name] = run
    return GRAPHS[name](tf.constant(texts), tf.constant(dictionaries))


def check(name: str, texts: list[str], dictionaries: list[str]) -> int:
    """Compare the entries of each token; return the number of occurrences."""
    encoder = ENCODERS[name]
    found = in_graph(name, texts, dictionaries)
    for row, (text, lines) in enumerate(zip(texts, dictionaries, strict=True)):
        entries = read_dictionary(lines.split("\n"), "d")
        ((ids, starts),) = encoder.encode_with_starts([text])
        expected = Dictionary(entries, encoder).apply(Sentence(text, ids, starts))
        assert found.matched[row].numpy() == len(expected.tokens)
        places = found.starts[row].numpy().tolist()
        tokens = [[i for i in own if i] for own in found.tokens[row].numpy().tolist()]
        assert not any(places[len(ids) :])
        # The numbers may differ, but not what they stand for.
        own = [number and (number, tokens[number - 1]) for number in places[: len(ids)]]
        numbers: dict[Any, int] = {}
        for actual, number in zip(own, expected.starts, strict=False):
            if not number:
                assert not actual
                continue
            assert actual[1] == expected.tokens[number - 1]
            assert numbers.setdefault(actual[0], number) == number
    return int(tf.reduce_sum(found.matched))


@pytest.mark.parametrize("name", mostly_slow(ENCODERS, "subwords"))
def test_the_graph_finds_what_the_translator_finds(name: str) -> None:
    texts = [
        "the house is old",
        '  the "old  house", (house)! ',
        "a b c a b c (a b)",
        "",
        "well-known C++ house",
        "((((((((house)))))))) (((((((((house",
        "a a a a",
        "日本 house ... here?",
    ]
    lines = ["old house\tcat", "house\ta cat\nis old\tfar", "a b\tthe\nb c\tit\nc a b c\there", ""]
    others = [
        "known\ta\nC\ta\nC++\tit",
        "house\tit\n \nhouse\tit",
        "a a\tit in",
        "日本\tthe\n...\ta",
    ]
    assert check(name, texts, ["a\tit"] * 8) > 3
    assert check(name, texts, [*lines, *others]) > 10
    assert check(name, ["", " "], ["a\tb", ""]) == 0


PIECES = st.lists(
    st.sampled_from(["a", "b", "c", " ", " ", "(", ".", "#", "ü", "日", "\u3000"]), max_size=14
)
TEXTS = PIECES.map("".join)
PHRASES = st.lists(st.tuples(TEXTS, st.sampled_from(["cat", "the house", "a b"])), max_size=6)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, PHRASES), min_size=1, max_size=3))
def test_the_graph_finds_what_the_translator_finds_anywhere(texts: Any) -> None:
    dictionaries = []
    for _, phrases in texts:
        lines = dict.fromkeys(" ".join(source.split()) for source, _ in phrases if source.split())
        targets = [target for source, target in phrases if source.split()]
        dictionaries.append(
            "\n".join(f"{source}\t{target}" for source, target in zip(lines, targets, strict=False))
        )
    check("subwords", [text for text, _ in texts], dictionaries)


def test_what_is_no_entry_is_left_out() -> None:
    lines = "house\nhouse\t\n\tcat\nhouse\ta\tb\nhouse\tzebra\nhouse\tcat\nhouse\tit\n"
    found = in_graph("words", ["the house"], [lines])
    assert found.matched.numpy().tolist() == [1]
    assert found.tokens[0, 0].numpy().tolist() == ENCODERS["words"].encode("cat")
    with pytest.raises(UserError):
        read_dictionary(lines.split("\n"), "d")
    long = in_graph("subwords", ["house"], ["house\t" + "q" * 1000])
    assert long.matched.numpy().tolist() == [0]


def test_phrases_of_more_words_than_the_decoder_accepts_are_left_out() -> None:
    for count in (100, 101):
        words = " ".join(["a"] * count)
        for line in (f"{words}\tcat", f"cat\t{words}"):
            found = in_graph("words", [f"{words} cat"], [line])
            assert found.matched.numpy().tolist() == [int(count == 100)]
    with pytest.raises(UserError, match="101 words; at most 100"):
        read_dictionary([line], "d")


def test_translations_that_the_vocabulary_changes_are_left_out() -> None:
    """As where it cannot spell them, which the decoder refuses."""
    rules = {"byte_fallback": True, "normalization_rule_name": "nmt_nfkc_cf"}
    subwords = SubwordEncoder(foreign_model(HARD, **rules))
    good, bad = "Dogs\tcats", "the\tDer\nfind\ta\u2581b\nfire\tﬁre"
    entries = [read_dictionary([line], "d") for line in bad.split("\n")]
    for own in entries:
        with pytest.raises(UserError, match="the model cannot write"):
            Dictionary(own, subwords)
    text, encoder = tf.constant(["the Dogs find fire"]), make_tf_encoder(subwords.model_bytes)
    _, starts = encoder.encode_with_starts(text)
    dictionary = tf.constant([f"{bad}\n{good}"])
    found = entries_in_graph(text, starts, dictionary, encoder, most_tokens=MOST_TOKENS)
    assert found.matched.numpy().tolist() == [1]
    assert found.tokens[found.tokens > 0].numpy().tolist() == subwords.encode("cats")
