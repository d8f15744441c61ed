"""`SubwordEncoder` inside a TensorFlow graph: the same ids, the same text."""

from __future__ import annotations

import tensorflow as tf
import tensorflow_text

from t2t_phrase.text.subwords.encoder import EOS_ID, PAD_ID, UNK_ID
from t2t_phrase.text.whitespace import WHITESPACE

# A run of blanks, for `tf.strings.regex_replace`.
BLANKS = "[" + "".join(rf"\x{{{code:X}}}" for code in WHITESPACE) + "]+"


class TfSubwords(tf.Module):
    """Encodes and decodes string tensors; the model travels inside the graph.

    Args:
        model_bytes: `SubwordEncoder.model_bytes`.
    """

    def __init__(self, model_bytes: bytes) -> None:
        super().__init__()
        self.tokenizer = tensorflow_text.SentencepieceTokenizer(model=model_bytes)

    def vocab_size(self) -> tf.Tensor:
        """Return the number of pieces as an int32 scalar."""
        return self.tokenizer.vocab_size()

    def encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return ids without EOS: (B,) string to (B, None) ragged int32.

        Bytes that are no UTF-8 count as U+FFFD.
        """
        return self.tokenizer.tokenize(texts)

    def encode_with_starts(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids without EOS, and where each begins in its text, in bytes; both ragged."""
        ids, starts, _ = self.tokenizer.tokenize_with_offsets(texts)
        return ids, starts

    def encode_with_phrases(
        self, texts: tf.Tensor, phrases: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids and, for each, the number of its phrase, both without EOS.

        The same numbers as those of `SubwordEncoder.encode_with_phrases`.

        Args:
            texts: (B,) string.
            phrases: (B,) string, the same sentences cut into their phrases, tabs between them.

        Returns:
            (ids, numbers), each (B, None) ragged int32.

        Raises:
            InvalidArgumentError: when it runs, if phrases do not spell their sentence.
        """
        spelt = [tf.strings.regex_replace(strings, BLANKS, "") for strings in (texts, phrases)]
        same = tf.debugging.assert_equal(
            *spelt, message="phrases must be the text with tabs between its phrases"
        )
        with tf.control_dependencies([same]):
            ids, starts, _ = self.tokenizer.tokenize_with_offsets(texts)
        characters, offsets = tf.strings.unicode_decode_with_offsets(texts, "UTF-8")
        # One place more than characters: where a subword begins at the very end.
        visible = tf.pad(_visible(characters).to_tensor(0), [(0, 0), (0, 1)])  # (B, C + 1)
        before = tf.cumsum(visible, axis=1, exclusive=True)
        offsets = offsets.to_tensor(offsets.dtype.max)  # (B, C)
        places = tf.searchsorted(offsets, tf.cast(starts.to_tensor(), offsets.dtype))  # (B, S)
        last = tf.reduce_sum(visible, axis=1, keepdims=True) - 1
        first_visible = tf.maximum(tf.minimum(tf.gather(before, places, batch_dims=1), last), 0)
        phrase = tf.gather(_phrase_of_visible(phrases), first_visible, batch_dims=1)
        new = tf.cast(phrase[:, 1:] != phrase[:, :-1], tf.int32)
        numbers = tf.cumsum(tf.pad(new, [(0, 0), (1, 0)], constant_values=1), axis=1)[
            :, : tf.shape(phrase)[1]
        ]
        return ids, tf.RaggedTensor.from_tensor(numbers, lengths=ids.row_lengths())

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Return the texts up to the first EOS: (B, T) or (B, None) int to (B,) string.

        Pad ids are skipped and ids beyond the vocabulary read as unk, as in `SubwordEncoder`.
        """
        if isinstance(ids, tf.RaggedTensor):
            ids = ids.to_tensor(default_value=PAD_ID)
        ids = tf.cast(ids, tf.int32)
        ended = tf.cumsum(tf.cast(ids == EOS_ID, tf.int32), axis=1) > 0
        known = tf.where((ids >= 0) & (ids < self.vocab_size()), ids, UNK_ID)
        visible = tf.ragged.boolean_mask(known, ~ended & (ids != PAD_ID))
        return self.tokenizer.detokenize(visible)


def _visible(characters: tf.RaggedTensor) -> tf.RaggedTensor:
    """Return 1 for every character that is no blank: ragged int32."""
    blank = tf.reduce_any(characters.values[:, None] == tf.constant(WHITESPACE), axis=1)
    return characters.with_values(tf.cast(~blank, tf.int32))


def _phrase_of_visible(phrases: tf.Tensor) -> tf.Tensor:
    """Return how many tabs stand before each visible character: (B, V + 1) int32."""
    characters = tf.strings.unicode_decode(phrases, "UTF-8")
    tabs = tf.cast(characters.to_tensor(0) == ord("\t"), tf.int32)
    visible = _visible(characters).to_tensor(0) > 0
    found = tf.ragged.boolean_mask(tf.cumsum(tabs, axis=1), visible).to_tensor(0)
    return tf.pad(found, [(0, 0), (0, 1)])
