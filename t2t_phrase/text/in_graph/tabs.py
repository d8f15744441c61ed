"""Sentences with tabs between their parts, inside a TensorFlow graph.

Shapes: B sentences, T tokens, N visible characters.
"""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.in_graph.visible import BLANKS, at_visible, first_visible


def first_and_tabs(
    texts: tf.Tensor, starts: tf.RaggedTensor, divided: tf.Tensor, *, message: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the first visible character of each token, and the tabs before each character.

    Args:
        texts: (B,) string.
        starts: (B, None) ragged int, where each token begins, in bytes.
        divided: (B,) string, the same sentences with tabs.
        message: of the error.

    Returns:
        `first_visible` (B, T) int32, and the number of tabs before each visible character, with
        a 0 after the last, (B, N + 1) int32.

    Raises:
        InvalidArgumentError: `divided` do not spell their sentences; raised when the graph runs.
    """
    spelt = [tf.strings.regex_replace(strings, BLANKS, "") for strings in (texts, divided)]
    same = tf.debugging.assert_equal(*spelt, message=message)
    with tf.control_dependencies([same]):
        first = first_visible(texts, starts)
    characters = tf.strings.unicode_decode(divided, "UTF-8")
    tabs = tf.cast(characters.to_tensor(0) == ord("\t"), tf.int32)
    return first, at_visible(tf.cumsum(tabs, axis=1), characters)
