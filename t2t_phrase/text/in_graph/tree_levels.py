"""`text.annotations.tree_levels` inside a TensorFlow graph."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.in_graph.tabs import first_and_tabs


def tree_levels(
    texts: tf.Tensor, starts: tf.RaggedTensor, constituents: tf.Tensor, *, continues: int
) -> tf.RaggedTensor:
    """Return the lowest level at which a segment begins with each token.

    Args:
        texts: (B,) string.
        starts: (B, None) ragged int, where each token begins, in bytes.
        constituents: (B,) string, the same sentences with tabs, see `TreeLevels`.
        continues: the number of a token with which no segment begins.

    Returns:
        (B, None) ragged int32.

    Raises:
        InvalidArgumentError: constituents do not spell their sentence; raised when the graph runs.
    """
    first, before = first_and_tabs(
        texts,
        starts,
        constituents,
        message="levels must be the text with tabs between its constituents",
    )  # (B, T), (B, N + 1)
    levels = before[:, 1:] - before[:, :-1]
    levels = tf.where(levels > 0, tf.minimum(levels, continues), continues)
    levels = tf.pad(levels, [(0, 0), (1, 0)], constant_values=1)
    # Padding, at least one column, is beyond all characters, so that the numbers ascend.
    lengths = tf.cast(starts.row_lengths(), tf.int32)
    batch, tokens = tf.unstack(tf.shape(first))
    first = tf.where(tf.range(tokens) < lengths[:, None], first, tf.int32.max)
    first = tf.pad(first, [(0, 0), (0, 1)], constant_values=tf.int32.max)
    # Each character counts for the first token that begins with it or later.
    places = tf.range(tf.shape(levels)[1])
    owner = tf.searchsorted(first, tf.tile(places[None], [batch, 1]))  # (B, N + 1)
    owner += tf.range(batch)[:, None] * (tokens + 1)
    lowest = tf.math.unsorted_segment_min(levels, owner, batch * (tokens + 1))
    lowest = tf.minimum(tf.reshape(lowest, (batch, tokens + 1))[:, :tokens], continues)
    return tf.RaggedTensor.from_tensor(lowest, lengths=starts.row_lengths())
