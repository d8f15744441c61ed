import random

import numpy as np
import pytest
import tensorflow as tf
from hard_text import CUTS

from t2t_phrase.config import UserError
from t2t_phrase.text.encoders import load_encoder, make_encoder
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.words import TfWords
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.text.whitespace import WHITESPACE
from t2t_phrase.text.words.encoder import HEADER, WordEncoder
from t2t_phrase.text.words.training import train_words

LINES = [
    "the dog can not find the cat",
    "the \u3000cat ▁ e\u0301 é 日本 a\x00",
    "<pad> <EOS> <unk>",
]
TEXTS = [
    *(cut.replace("|", "") for cut in CUTS),
    *LINES,
    "no known word",
    " the zebra zebra dog\u2028cat<unk> ",
    "".join(f"dog{chr(code)}" for code in WHITESPACE),
]


@pytest.fixture(scope="module")
def encoder():
    return WordEncoder(train_words(LINES, vocab_size=40))


def test_words_are_ranked_by_frequency_then_by_name():
    lines = ["b a", "c b <unk>", "a\u00a0b d"]
    assert train_words(lines, vocab_size=6) == HEADER + b"b\na\nc\n"
    assert train_words(lines[::-1], vocab_size=60) == HEADER + b"b\na\nc\nd\n"


def test_by_hand():
    encoder = WordEncoder(train_words(["the dog", "the cat", "the dog"], vocab_size=5))
    assert encoder.vocab_size == 5
    assert encoder.pieces([0, 1, 2, 3, 4, 5, -1]) == [
        *("<pad>", "<EOS>", "<unk>", "the", "dog"),
        *("<unk>", "<unk>"),
    ]
    # Unknown words are not merged, and special ones are unknown.
    assert encoder.encode("the  cat\u2028cat <EOS> dog ") == [3, 2, 2, 2, 4]
    assert encoder.decode([0, 3, 2, 2, 9, 4, 1, 3]) == "the <unk> <unk> <unk> dog"
    assert encoder.encode_with_starts(["é\u3000the x", ""]) == [([2, 3, 2], [0, 5, 9]), ([], [])]


@pytest.mark.parametrize("text", TEXTS)
def test_there_is_one_id_for_each_word(encoder, text):
    ((ids, starts),) = encoder.encode_with_starts([text])
    words = text.split()
    assert ids == encoder.encode(text) and len(ids) == len(starts) == len(words)
    for start, word in zip(starts, words, strict=True):
        assert text.encode()[start:].startswith(word.encode())
    shown = encoder.decode(ids).split()
    assert all(found in (word, "<unk>") for found, word in zip(shown, words, strict=True))


def test_the_graph_gives_the_same_ids_starts_and_text(encoder):
    in_graph = TfWords(encoder.model_bytes)
    strings = tf.TensorSpec([None], tf.string)
    encode = tf.function(in_graph.encode_with_starts, input_signature=[strings])
    ids, starts = encode(tf.constant(TEXTS))
    found = list(zip(ids.to_list(), starts.to_list(), strict=True))
    assert found == encoder.encode_with_starts(TEXTS)
    assert in_graph.encode(tf.constant(TEXTS)).to_list() == encoder.encode_batch(TEXTS)
    assert encode(tf.constant([], tf.string))[0].shape[0] == 0
    assert [row.to_list() for row in encode(tf.constant([""]))] == [[[]], [[]]]
    assert int(in_graph.vocab_size()) == encoder.vocab_size

    drawn = np.random.default_rng(0).integers(-1, encoder.vocab_size + 5, (200, 12))
    drawn[:50, 5] = 1
    decode = tf.function(in_graph.decode, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    texts = [text.decode() for text in decode(tf.constant(drawn, tf.int32)).numpy()]
    assert texts == [encoder.decode(row) for row in drawn.tolist()]
    ragged = tf.ragged.constant([[5, 2], [], [4]], dtype=tf.int32)
    texts = [text.decode() for text in in_graph.decode(ragged).numpy()]
    assert texts == [encoder.decode(row) for row in ragged.to_list()]


def test_a_saved_graph_keeps_its_words(encoder, tmp_path):
    module = tf.Module()
    module.encoder = TfWords(encoder.model_bytes)
    module.round_trip = tf.function(
        lambda texts: module.encoder.decode(module.encoder.encode(texts)),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    texts = [text.decode() for text in loaded.round_trip(tf.constant(TEXTS)).numpy()]
    assert texts == [encoder.decode(encoder.encode(text)) for text in TEXTS]


def test_vocabularies_are_told_apart(encoder, tmp_path):
    subwords = train_subwords(["the dog can not find the cat"], vocab_size=280)
    for model_bytes, plain, graph in (
        (encoder.model_bytes, WordEncoder, TfWords),
        (subwords, SubwordEncoder, TfSubwords),
    ):
        (tmp_path / "vocabulary").write_bytes(model_bytes)
        found = load_encoder(tmp_path / "vocabulary")
        assert type(found) is type(make_encoder(model_bytes)) is plain
        assert found.model_bytes == model_bytes
        assert type(make_tf_encoder(model_bytes)) is graph
    pair = Vocabularies(encoder, make_encoder(subwords))
    assert not pair.shared and pair.reversed == (pair.target, pair.source)
    assert Vocabularies(encoder, encoder).shared


def test_faults_are_explained(tmp_path):
    with pytest.raises(UserError, match="vocab_size=3 is too small: 3 entries are special"):
        train_words(["a"], vocab_size=3)
    with pytest.raises(UserError, match="the training text is empty"):
        train_words([" ", "<pad>"], vocab_size=9)
    with pytest.raises(UserError, match="does not begin with the lines <pad>, <EOS>, <unk>"):
        WordEncoder(b"the\n")
    with pytest.raises(UserError, match="lists a word twice"):
        WordEncoder(HEADER + b"a\na\n")
    with pytest.raises(UserError, match="not UTF-8"):
        WordEncoder(HEADER + b"\xff\n")
    with pytest.raises(UserError, match="cannot read the vocabulary"):
        load_encoder(tmp_path / "absent")
    with pytest.raises(UserError, match="not a SentencePiece model"):
        make_encoder(b"junk")


def test_large_vocabularies_in_a_graph():
    draw = random.Random(0)
    words = [f"w{i}" for i in range(50_000)]
    encoder = WordEncoder(train_words(words, vocab_size=40_003))
    texts = [" ".join(draw.choices(words, k=20)) for _ in range(50)]
    ids = TfWords(encoder.model_bytes).encode(tf.constant(texts)).to_list()
    assert ids == encoder.encode_batch(texts) and any(2 in row for row in ids)
