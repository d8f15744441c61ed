"""`decoding.word_links` inside a TensorFlow graph: links between words, as strings.

Shapes: B sentences, S source tokens, L tokens of a translation.
"""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.special_ids import EOS_ID, PAD_ID
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.visible import BLANKS, at_visible, first_visible, word_begins
from t2t_phrase.text.in_graph.words import TfWords

# The number for a token that is in no word.
_NO_WORD = -1


def source_words(texts: tf.Tensor, starts: tf.RaggedTensor) -> tf.Tensor:
    """Return the word in which each token begins, (B, S) int32; meaningless at padding.

    Args:
        texts: (B,) string.
        starts: (B, None) ragged int, where each token begins, in bytes.
    """
    characters = tf.strings.unicode_decode(texts, "UTF-8")
    word = at_visible(tf.cumsum(word_begins(characters), axis=1) - 1, characters)
    return tf.gather(word, first_visible(texts, starts), batch_dims=1)


def target_words(encoder: TfSubwords | TfWords, ids: tf.Tensor) -> tf.Tensor:
    """Return the word of the decoded text that each token is in, (B, L) int32.

    It is -1 from EOS or the final padding on, and if the text has no words.

    Args:
        encoder: encoder of the target.
        ids: (B, L) int32.
    """
    # One sentence at a time, because the text of every prefix of a sentence is needed.
    return tf.map_fn(lambda row: _words_of_row(encoder, row), ids)


def _words_of_row(encoder: TfSubwords | TfWords, ids: tf.Tensor) -> tf.Tensor:
    places = tf.range(tf.shape(ids)[0])
    texts = encoder.decode(tf.where(places <= places[:, None], ids, PAD_ID))
    visible = tf.strings.regex_replace(texts, BLANKS, "")
    words = tf.strings.split(tf.strings.regex_replace(texts, BLANKS, " ")).row_lengths()
    words = tf.cast(words, tf.int32)
    count = words[-1]
    # A token that adds nothing visible is in the word that follows, or in the last one.
    grows = visible != tf.concat([[""], visible[:-1]], axis=0)
    following = tf.searchsorted(tf.boolean_mask(places, grows), places)
    word = tf.clip_by_value(tf.boolean_mask(words, grows), 1, tf.maximum(count, 1))
    word = tf.concat([word, [count]], axis=0) - 1
    before_end = tf.cumsum(tf.cast(ids == EOS_ID, tf.int32)) == 0
    last = tf.reduce_max(tf.where(before_end & (ids != PAD_ID), places, -1))
    ended = ~before_end | (places > last) & ~tf.reduce_any(ids == EOS_ID)
    return tf.where(ended | (count == 0), _NO_WORD, tf.gather(word, following))


def pharaoh(
    positions: tf.Tensor, targets: tf.Tensor, sources: tf.Tensor, lengths: tf.Tensor
) -> tf.Tensor:
    """Return the links between words in Pharaoh format, (B,) string.

    Args:
        positions: (B, L) int32, the source position of each token of the translation.
        targets: (B, L) int32, from `target_words`.
        sources: (B, S) int32, from `source_words`.
        lengths: (B,) int32, the number of source tokens, EOS left out.
    """
    rows, width = tf.shape(targets)[0], tf.cast(tf.shape(targets)[1], tf.int64)
    # Nothing can be gathered from an axis of length 0.
    sources = tf.pad(sources, [(0, 0), (0, 1)])
    linked = (targets != _NO_WORD) & (positions < lengths[:, None])
    own = tf.gather(sources, tf.where(linked, positions, 0), batch_dims=1)
    size = tf.cast(tf.shape(sources)[1], tf.int64)
    # One number for each link, ascending by sentence, source and target.
    row = tf.range(tf.cast(rows, tf.int64))[:, None]
    codes = (row * size + tf.cast(own, tf.int64)) * width + tf.cast(targets, tf.int64)
    codes = tf.unique(tf.sort(tf.boolean_mask(codes, linked))).y
    pairs = codes % (size * width)
    links = tf.strings.join(
        [tf.strings.as_string(pairs // width), tf.strings.as_string(pairs % width)], "-"
    )
    by_row = tf.RaggedTensor.from_value_rowids(
        links, codes // (size * width), nrows=tf.cast(rows, tf.int64)
    )
    return tf.strings.reduce_join(by_row, axis=-1, separator=" ")
