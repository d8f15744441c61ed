"""`text.dictionaries.unknown_words` inside a TensorFlow graph.

Shapes: B sentences, K translations of a sentence, L tokens of a translation, S source tokens.
"""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from t2t_phrase.text.dictionaries.unknown_words import UNKNOWN
from t2t_phrase.text.in_graph.visible import BLANKS


class TfUnknownWords(tf.Module):
    """Finds the replacement of each token of a translation, in case it is an unknown word.

    Args:
        dictionary: translations by source word; None: unknown words become source words.
    """

    def __init__(self, dictionary: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.table = None
        # A table without entries cannot be made.
        if dictionary:
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant([*dictionary], tf.string),
                    tf.constant([*dictionary.values()], tf.string),
                ),
                default_value="",
            )

    def replacements(
        self, texts: tf.Tensor, words: tf.Tensor, lengths: tf.Tensor, positions: tf.Tensor
    ) -> tf.Tensor:
        """Return the word that would replace each token, (B, K, L) string.

        Args:
            texts: (B,) string, the sources.
            words: (B, S) int32, the word that each source token is in; see `word_links`.
            lengths: (B,) int32, the number of source tokens that can be linked, EOS left out.
            positions: (B, K, L) int32, the source position of each token.
        """
        # Invalid UTF-8 is in no vocabulary, and must not get into a translation.
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        sources = tf.strings.split(tf.strings.regex_replace(texts, BLANKS, " ")).to_tensor("")
        if self.table is not None:
            found = self.table.lookup(sources)
            sources = tf.where(found == "", sources, found)
        # Nothing can be gathered from an axis of length 0.
        words, sources = (tf.pad(given, [(0, 0), (0, 1)]) for given in (words, sources))
        linked = positions < lengths[:, None, None]
        word = tf.gather(words, tf.where(linked, positions, 0), batch_dims=1)
        return tf.where(linked, tf.gather(sources, word, batch_dims=1), UNKNOWN)
