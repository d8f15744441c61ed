"""The characters and words of sentences, inside a TensorFlow graph.

Shapes: B sentences, C characters.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.text.dictionaries.matching import MOST_PUNCTUATION, OF_WORDS
from t2t_phrase.text.in_graph.visible import BLANKS

_OF_WORDS = "[" + "".join(rf"\x{{{ord(char):X}}}" for char in OF_WORDS) + "]"
_NOWHERE = -1
_BLANK = ord(" ")


class Sentences(NamedTuple):
    """The characters of sentences, with one place after the last, (B, C) each.

    Attributes:
        codes: the characters; _NOWHERE after the end.
        words: the number of the word of each character, or of the next word if it is blank.
        visible: the number of visible characters before each.
        may_start: whether a phrase may begin with each.
        may_end: whether a phrase may end before each.
        word_ends: the end of the word of each.
    """

    codes: tf.Tensor
    words: tf.Tensor
    visible: tf.Tensor
    may_start: tf.Tensor
    may_end: tf.Tensor
    word_ends: tf.Tensor


def normalized(texts: tf.Tensor) -> tf.Tensor:
    """Return texts with single spaces, and none at their ends."""
    return tf.strings.strip(tf.strings.regex_replace(texts, BLANKS, " "))


def sentences_of(texts: tf.Tensor) -> Sentences:
    """Return the characters of texts (B,)."""
    texts = normalized(texts)
    codes = tf.strings.unicode_decode(texts, "UTF-8").to_tensor(_NOWHERE)
    codes = tf.pad(codes, [(0, 0), (0, 1)], constant_values=_NOWHERE)  # (B, C)
    chars = tf.strings.unicode_split(texts, "UTF-8").to_tensor("")
    chars = tf.pad(chars, [(0, 0), (0, 1)], constant_values="")
    edge = tf.strings.regex_full_match(chars, r"\p{P}")
    edge &= ~tf.strings.regex_full_match(chars, _OF_WORDS)
    width = tf.shape(codes)[1]
    place = tf.range(width)
    apart = (codes == _BLANK) | (codes == _NOWHERE)
    others = tf.cast(~edge, tf.int32)
    before = tf.cumsum(others, axis=1, exclusive=True)
    # Where the word of each character begins and ends.
    begins = tf.where(apart, place + 1, 0)
    begins = tf.pad(cumulative_max(begins)[:, :-1], [(0, 0), (1, 0)])
    ends = tf.reverse(-cumulative_max(tf.reverse(tf.where(apart, -place, -width), [1])), [1])
    ends = tf.minimum(ends, width - 1)
    skipped, left = place - begins, ends - place
    clear = before == tf.gather(before, tf.minimum(begins, width - 1), batch_dims=1)
    rest = before == tf.gather(before, ends, batch_dims=1)
    return Sentences(
        codes,
        tf.cumsum(tf.cast(apart, tf.int32), axis=1, exclusive=True),
        tf.cumsum(tf.cast(~apart, tf.int32), axis=1, exclusive=True),
        ~apart & clear & (skipped <= MOST_PUNCTUATION),
        rest & (left <= MOST_PUNCTUATION),
        ends,
    )


def cumulative_max(values: tf.Tensor) -> tf.Tensor:
    """Return the maximum of (B, C) up to each place, by steps that double."""
    width = tf.shape(values)[1]
    least = values.dtype.min

    def double(step: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        earlier = tf.pad(x, [(0, 0), (step, 0)], constant_values=least)[:, :width]
        return 2 * step, tf.maximum(x, earlier)

    _, found = tf.while_loop(
        lambda step, x: step < width,
        double,
        (tf.constant(1), values),
        shape_invariants=(tf.TensorShape(()), tf.TensorShape((None, None))),
    )
    return found
