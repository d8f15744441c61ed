"""`text.annotations.word_numbers.WordNumbers.encode` inside a TensorFlow graph."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.in_graph.visible import BLANKS, at_visible, first_visible, word_begins


def word_numbers(
    texts: tf.Tensor, starts: tf.RaggedTensor, numbers: tf.Tensor, *, pattern: str
) -> tf.RaggedTensor:
    """Return the integer of the word in which each token begins.

    Args:
        texts: (B,) string, words separated by blanks.
        starts: (B, None) ragged int, where each token begins, in bytes.
        numbers: (B,) string, one integer for each word, separated by blanks.
        pattern: regular expression that every integer must match.

    Returns:
        (B, None) ragged int32.

    Raises:
        InvalidArgumentError: a field is not an integer, or the numbers of integers and words
            differ; raised when the graph runs.
    """
    fields = tf.strings.split(tf.strings.regex_replace(numbers, BLANKS, " "))  # (B, None)
    characters = tf.strings.unicode_decode(texts, "UTF-8")
    begins = word_begins(characters)  # (B, C)
    word = at_visible(tf.cumsum(begins, axis=1) - 1, characters)  # (B, N + 1)
    checks = [
        tf.debugging.assert_equal(
            tf.cast(fields.row_lengths(), tf.int32),
            tf.reduce_sum(begins, axis=1),
            message="there must be one integer for each word of the text",
        ),
        tf.debugging.assert_equal(
            tf.strings.regex_full_match(fields.values, pattern),
            True,
            message="the annotation must consist of integers",
        ),
    ]
    with tf.control_dependencies(checks):
        first = first_visible(texts, starts)  # (B, T)
        values = tf.strings.to_number(fields.values, tf.int32)
    values = fields.with_values(values).to_tensor(0)
    values = tf.pad(values, [(0, 0), (0, 1)])
    found = tf.gather(values, tf.gather(word, first, batch_dims=1), batch_dims=1)
    return tf.RaggedTensor.from_tensor(found, lengths=starts.row_lengths())
