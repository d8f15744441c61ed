"""The ids of tokens that are shown in a text, inside a TensorFlow graph."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID


def shown_ids(
    ids: tf.Tensor | tf.RaggedTensor, vocab_size: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return ids within the vocabulary, others as unk, and whether each is shown.

    Pads are not shown, nor is anything from the first EOS on.

    Args:
        ids: (B, T) or (B, None) int.
        vocab_size: an int32 scalar.

    Returns:
        (B, T) int32 and (B, T) bool.
    """
    if isinstance(ids, tf.RaggedTensor):
        ids = ids.to_tensor(default_value=PAD_ID)
    ids = tf.cast(ids, tf.int32)
    ended = tf.cumsum(tf.cast(ids == EOS_ID, tf.int32), axis=1) > 0
    known = tf.where((ids >= 0) & (ids < vocab_size), ids, UNK_ID)
    return known, ~ended & (ids != PAD_ID)
