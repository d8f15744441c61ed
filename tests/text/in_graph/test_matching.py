"""Occurrences in a graph against a search without keys."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.in_graph.matching import index_of, longest_first, occurring, phrase_keys
from t2t_phrase.text.in_graph.sentences import sentences_of


def keys_of(phrases: list[list[str]]) -> tuple[tf.Tensor, tf.Tensor]:
    """Return keys and lengths of the phrases of each sentence, padded."""
    most = max(map(len, phrases))
    padded = tf.constant([[*own, *[""] * (most - len(own))] for own in phrases])
    codes = tf.strings.unicode_decode(tf.reshape(padded, (-1,)), "UTF-8")
    lengths = tf.cast(codes.row_lengths(), tf.int32)
    return tuple(tf.reshape(found, padded.shape) for found in (phrase_keys(codes), lengths))


@pytest.mark.parametrize("seed", range(4))
def test_occurrences_are_those_of_the_decoder(seed: int) -> None:
    draw = np.random.default_rng(seed)
    texts = [" ".join(draw.choice(list("abü"), size)) for size in (40, 1, 7, 25)]
    phrases = [
        [" ".join(draw.choice(list("abü"), draw.integers(1, 6))) for _ in range(8)] for _ in texts
    ]
    sentences, (keys, lengths) = sentences_of(tf.constant(texts)), keys_of(phrases)
    chosen, places = longest_first(sentences, index_of(keys, lengths))
    met = occurring(sentences, keys, lengths).numpy()
    for row, (text, own) in enumerate(zip(texts, phrases, strict=True)):
        words = text.split()
        expected = find_matches(words, Phrases(Entry(phrase, "x") for phrase in own))
        found = [
            (own[number], place)
            for number, place in zip(chosen[row].numpy(), places[row].numpy(), strict=True)
            if number >= 0
        ]
        assert found == [(m.entry.source, len(" ".join([*words[: m.start], ""]))) for m in expected]
        # Of equal phrases, the first one counts.
        assert all(own.index(own[n]) == n for n in chosen[row].numpy() if n >= 0)
        assert met[row].tolist() == [f" {phrase} " in f" {text} " for phrase in own]


@pytest.mark.slow
def test_time_does_not_grow_with_the_product_of_both_texts() -> None:
    # Each comparison of a character of one with one of the other would take minutes, and 20 GB.
    text, lines = "a b " * 15_000, [f"a b {'a b ' * (n % 40)}c{n}" for n in range(4000)]
    sentences, (keys, lengths) = sentences_of(tf.constant([text])), keys_of([[*lines, "a", "b a"]])
    chosen, _ = longest_first(sentences, index_of(keys, lengths))
    assert chosen.shape == (1, 15_000)
    assert occurring(sentences, keys, lengths).numpy()[0, -3:].tolist() == [False, True, True]
