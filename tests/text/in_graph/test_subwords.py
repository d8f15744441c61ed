import gzip

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.whitespace import normalize_whitespace

SENTENCES = ["Ein Haus am See.", "A house at the lake.", "der Seehausbau geht voran"] * 3
TEXTS = [
    "",
    " ",
    "Ein\u2028Haus\u00a0am See,\t漢字 \U0001f600",
    "<EOS> <pad> e\u0301é\x00",
    "A house at the lake.",
]


@pytest.fixture(scope="module")
def twins():
    encoder = SubwordEncoder(train_subwords(SENTENCES, vocab_size=300))
    return encoder, TfSubwords(encoder.model_bytes)


def test_same_ids_in_a_graph(twins):
    encoder, in_graph = twins
    encode = tf.function(in_graph.encode, input_signature=[tf.TensorSpec([None], tf.string)])
    assert encode(tf.constant(TEXTS)).to_list() == encoder.encode_batch(TEXTS)
    assert encode(tf.constant([], tf.string)).shape[0] == 0
    assert int(in_graph.vocab_size()) == encoder.vocab_size


def test_same_text_for_any_ids(twins):
    encoder, in_graph = twins
    # Pads, early EOS, unk, broken bytes, ids beyond the vocabulary.
    ids = np.random.default_rng(0).integers(0, encoder.vocab_size + 20, (200, 12))
    ids[:50, 5] = 1
    decode = tf.function(in_graph.decode, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    found = [text.decode() for text in decode(tf.constant(ids, tf.int32)).numpy()]
    assert found == [encoder.decode(row) for row in ids.tolist()]
    ragged = tf.ragged.constant([[5, 270], [], [280]], dtype=tf.int32)
    found = [text.decode() for text in in_graph.decode(ragged).numpy()]
    assert found == [encoder.decode(row) for row in ragged.to_list()]


@pytest.mark.slow
def test_all_of_multi30k(shared_dir):
    lines = []
    for language in ("en", "de", "fr"):
        for split in ("train", "val", "test_2016_flickr"):
            path = shared_dir / f"data/multi30k/{split}.{language}.gz"
            lines += gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")
    encoder = SubwordEncoder(train_subwords(lines, vocab_size=10_000))
    in_graph = TfSubwords(encoder.model_bytes)
    ids = encoder.encode_batch(lines)
    encoded = in_graph.encode(tf.constant(lines))
    assert encoded.to_list() == ids
    decoded = [text.decode() for text in in_graph.decode(encoded).numpy()]
    assert decoded == [encoder.decode(row) for row in ids]
    assert decoded == [normalize_whitespace(line) for line in lines]
