"""Links between words in a graph against `decoding.word_links`, with random tokens."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hard_text import CUTS

from t2t_phrase.decoding.word_links import tokens_of_row, word_links, words_of_ids, words_of_text
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.alignments.pharaoh import write_links
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.in_graph.word_links import pharaoh, source_words, target_words
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

LENGTH = 9


@pytest.fixture(scope="module")
def encoder() -> SubwordEncoder:
    draw = random.Random(0)
    words = ["the", "house", "(old)", "läuft", "日本", "don't", "a"]
    lines = [" ".join(draw.choices(words, k=5)) for _ in range(100)]
    return SubwordEncoder(train_subwords(lines, vocab_size=320))


def rows(encoder: SubwordEncoder, lines: list[str]) -> np.ndarray:
    """Return tokens of texts, random ones among them, some without an end."""
    rng, found = np.random.default_rng(0), []
    for number, line in enumerate(lines):
        ids = [*encoder.encode(line), EOS_ID][: rng.integers(1, LENGTH + 1)]
        if number % 3 == 0:
            ids = rng.integers(0, encoder.vocab_size, size=LENGTH).tolist()
        found.append([*ids, *[0] * (LENGTH - len(ids))])
    return np.array(found, "int32")


def test_they_are_those_of_the_decoder(encoder: SubwordEncoder) -> None:
    lines = [*(cut.replace("|", "") for cut in CUTS), "the (old) house läuft", "a  a"]
    graph: Any = make_tf_encoder(encoder.model_bytes)
    given = rows(encoder, lines)
    targets = target_words(graph, tf.constant(given)).numpy()
    ids, starts = graph.encode_with_starts(tf.constant(lines))
    sources = source_words(tf.constant(lines), starts)
    rng = np.random.default_rng(1)
    lengths = [min(4, len(row)) for row in ids.to_list()]
    positions = np.array([rng.integers(n + 1, size=LENGTH) for n in lengths], "int32")
    links = pharaoh(tf.constant(positions), targets, sources, tf.constant(lengths)).numpy()
    several = 0
    for row, line in enumerate(lines):
        tokens = tokens_of_row(given[row].tolist())
        expected = words_of_ids(encoder, tokens)
        assert targets[row].tolist() == [*expected, *[-1] * (LENGTH - len(expected))], line
        kept = encoder.encode(line)[:4]
        words = words_of_text(encoder, line, kept)
        own = word_links(positions[row, : len(expected)].tolist(), expected, words)
        assert links[row].decode() == write_links(own), line
        several += len(own) > 1
    assert several > 3
