"""`WordEncoder` inside a TensorFlow graph: the same ids, the same text."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.in_graph.shown_ids import shown_ids
from t2t_phrase.text.in_graph.visible import BLANKS, word_begins
from t2t_phrase.text.words.encoder import SPECIAL, WordEncoder


class TfWords(tf.Module):
    """Encodes and decodes string tensors; the vocabulary is part of the graph.

    Args:
        model_bytes: `WordEncoder.model_bytes`.
    """

    def __init__(self, model_bytes: bytes) -> None:
        super().__init__()
        self._words = WordEncoder(model_bytes).words
        known = self._words[len(SPECIAL) :]
        ids = range(len(SPECIAL), len(self._words))
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(known, tf.string), tf.constant(list(ids), tf.int32)
            ),
            default_value=UNK_ID,
        )

    def vocab_size(self) -> tf.Tensor:
        """Return the number of words as an int32 scalar."""
        return tf.constant(len(self._words), tf.int32)

    def encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return ids without EOS: (B,) string to (B, None) ragged int32."""
        words = tf.strings.split(tf.strings.regex_replace(texts, BLANKS, " "))
        return words.with_values(self.table.lookup(words.values))

    def encode_with_starts(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids without EOS, and where each begins in its text, in bytes.

        Args:
            texts: (B,) string.

        Returns:
            (ids, starts), each (B, None) ragged int32.
        """
        characters, offsets = tf.strings.unicode_decode_with_offsets(texts, "UTF-8")
        starts = tf.ragged.boolean_mask(offsets.to_tensor(0), word_begins(characters) > 0)
        return self.encode(texts), tf.cast(starts, tf.int32)

    def decode(
        self, ids: tf.Tensor | tf.RaggedTensor, unknown: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Return the texts up to the first EOS: (B, T) or (B, None) int to (B,) string.

        Pad ids are skipped, and ids beyond the vocabulary give `<unk>`, as in `WordEncoder`.

        Args:
            ids: the tokens.
            unknown: (B, T) string, the replacement of each token if it is `<unk>`; None: `<unk>`.
        """
        known, shown = shown_ids(ids, self.vocab_size())
        words = tf.gather(tf.constant(self._words, tf.string), known)
        if unknown is not None:
            words = tf.where(known == UNK_ID, unknown, words)
        words = tf.ragged.boolean_mask(words, shown)
        return tf.strings.reduce_join(words, axis=-1, separator=" ")
