"""`text.visible` inside a TensorFlow graph.

Shapes: B sentences, T tokens, C characters, N visible characters.
"""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.whitespace import WHITESPACE

# A run of blanks, for `tf.strings.regex_replace`.
BLANKS = "[" + "".join(rf"\x{{{code:X}}}" for code in WHITESPACE) + "]+"


def is_visible(characters: tf.RaggedTensor) -> tf.RaggedTensor:
    """Return 1 for every character that is not blank, else 0: ragged int32."""
    blank = tf.reduce_any(characters.values[:, None] == tf.constant(WHITESPACE), axis=1)
    return characters.with_values(tf.cast(~blank, tf.int32))


def word_begins(characters: tf.RaggedTensor) -> tf.Tensor:
    """Return (B, C) int32: 1 for every character that begins a word, else 0."""
    visible = is_visible(characters).to_tensor(0)
    return visible * (1 - tf.pad(visible, [(0, 0), (1, 0)])[:, :-1])


def first_visible(texts: tf.Tensor, starts: tf.RaggedTensor) -> tf.Tensor:
    """Return the number of the first visible character of each token: (B, T) int32.

    Values at padding have no meaning. See `text.visible.first_visible`.

    Args:
        texts: (B,) string.
        starts: (B, None) ragged int, where each token begins, in bytes.
    """
    characters, offsets = tf.strings.unicode_decode_with_offsets(texts, "UTF-8")
    # One more place than there are characters: a token may begin at the very end.
    visible = tf.pad(is_visible(characters).to_tensor(0), [(0, 0), (0, 1)])  # (B, C + 1)
    before = tf.cumsum(visible, axis=1, exclusive=True)
    offsets = offsets.to_tensor(offsets.dtype.max)  # (B, C)
    places = tf.searchsorted(offsets, tf.cast(starts.to_tensor(), offsets.dtype))  # (B, T)
    last = tf.reduce_sum(visible, axis=1, keepdims=True) - 1
    return tf.maximum(tf.minimum(tf.gather(before, places, batch_dims=1), last), 0)


def at_visible(values: tf.Tensor, characters: tf.RaggedTensor) -> tf.Tensor:
    """Return the values (B, C) at visible characters, and a 0 after the last: (B, N + 1) int32."""
    visible = is_visible(characters).to_tensor(0) > 0
    return tf.pad(tf.ragged.boolean_mask(values, visible).to_tensor(0), [(0, 0), (0, 1)])
