"""`SubwordEncoder` inside a TensorFlow graph: the same ids, the same text."""

from __future__ import annotations

import tensorflow as tf
import tensorflow_text

from t2t_phrase.text.in_graph.shown_ids import shown_ids


class TfSubwords(tf.Module):
    """Encodes and decodes string tensors; the model is part of the graph.

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

        Invalid UTF-8 counts as U+FFFD.
        """
        return self.tokenizer.tokenize(texts)

    def encode_with_starts(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids without EOS, and where each begins in its text, in bytes.

        Args:
            texts: (B,) string.

        Returns:
            (ids, starts), each (B, None) ragged int32.
        """
        ids, starts, _ = self.tokenizer.tokenize_with_offsets(texts)
        return ids, starts

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Return the texts up to the first EOS: (B, T) or (B, None) int to (B,) string.

        Pad ids are skipped, and ids beyond the vocabulary count as unk, as in `SubwordEncoder`.
        """
        known, shown = shown_ids(ids, self.vocab_size())
        return self.tokenizer.detokenize(tf.ragged.boolean_mask(known, shown))
