"""`text.annotations.phrases.phrase_numbers` inside a TensorFlow graph."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.in_graph.tabs import first_and_tabs


def phrase_numbers(
    texts: tf.Tensor, starts: tf.RaggedTensor, phrases: tf.Tensor
) -> tf.RaggedTensor:
    """Return the number, from 1, of the phrase that each token belongs to.

    Args:
        texts: (B,) string.
        starts: (B, None) ragged int, where each token begins, in bytes.
        phrases: (B,) string, the same sentences with tabs between their phrases.

    Returns:
        (B, None) ragged int32.

    Raises:
        InvalidArgumentError: phrases do not spell their sentence; raised when the graph runs.
    """
    first, tabs_before = first_and_tabs(
        texts, starts, phrases, message="phrases must be the text with tabs between its phrases"
    )
    phrase = tf.gather(tabs_before, first, batch_dims=1)  # (B, T)
    new = tf.cast(phrase[:, 1:] != phrase[:, :-1], tf.int32)
    numbers = tf.cumsum(tf.pad(new, [(0, 0), (1, 0)], constant_values=1), axis=1)
    # Without any tokens, the padding is one column too many.
    numbers = numbers[:, : tf.shape(phrase)[1]]
    return tf.RaggedTensor.from_tensor(numbers, lengths=starts.row_lengths())
