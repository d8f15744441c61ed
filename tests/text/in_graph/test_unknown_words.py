"""Unknown words in a graph against `text.alignments.unknown_words`, with random tokens."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hard_text import CUTS

from t2t_phrase.decoding.word_links import tokens_of_row
from t2t_phrase.special_ids import PAD_ID
from t2t_phrase.text.dictionaries.unknown_words import replace_unknown
from t2t_phrase.text.in_graph.unknown_words import TfUnknownWords
from t2t_phrase.text.in_graph.word_links import source_words
from t2t_phrase.text.in_graph.words import TfWords
from t2t_phrase.text.words.encoder import HEADER, WordEncoder

BEAMS, LENGTH, CUT = 3, 9, 5
LINES = [
    *(cut.replace("|", "") for cut in CUTS),
    "the  zebra sleeps\u2028in\u3000Zürich <unk> 日本",
    "",
    "a",
]
DICTIONARY = {"zebra": "Zebra", "Zürich": "Züri", "a": "ein"}


@pytest.mark.parametrize("dictionary", [None, {}, DICTIONARY], ids=["none", "empty", "given"])
def test_words_are_those_of_the_decoder(dictionary: dict[str, str] | None) -> None:
    encoder = WordEncoder(HEADER + "das\nschläft\n".encode())
    graph, rng = TfWords(encoder.model_bytes), np.random.default_rng(0)
    shape = (len(LINES), BEAMS, LENGTH)
    # Also ids beyond the vocabulary, and padding between tokens.
    ids = rng.integers(0, 8, size=shape).astype("int32")
    lengths = [min(CUT, len(line.split())) for line in LINES]
    # EOS, and the padding after it, are positions, too.
    limit = np.array(lengths)[:, None, None] + 2
    positions = rng.integers(0, limit, size=shape).astype("int32")
    texts = tf.constant(LINES)
    words = source_words(texts, graph.encode_with_starts(texts)[1])
    found = TfUnknownWords(dictionary).replacements(texts, words, tf.constant(lengths), positions)
    flat = tf.reshape(ids, (-1, LENGTH)), tf.reshape(found, (-1, LENGTH))
    made = [text.decode() for text in graph.decode(*flat).numpy()]
    counts = []
    for line, length, rows, places in zip(LINES, lengths, ids, positions, strict=True):
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            aligned = [
                position if position < length else None
                for token, position in zip(tokens_of_row(row), place, strict=False)
                if token != PAD_ID
            ]
            expected = replace_unknown(
                encoder.decode(row).split(), aligned, line.split(), dictionary
            )
            assert made.pop(0) == " ".join(expected.words), line
            counts.append(expected.counts)
    translated, copied, left = (sum(part) for part in zip(*counts, strict=True))
    assert bool(translated) == bool(dictionary) and copied and left


def test_what_is_not_utf_8_is_written_so() -> None:
    texts = tf.constant([b"a\xff b"])
    found = TfUnknownWords().replacements(
        texts, tf.constant([[0, 1]]), tf.constant([2]), tf.constant([[[0, 1]]])
    )
    assert [word.decode() for word in found.numpy()[0, 0]] == ["a\ufffd", "b"]
