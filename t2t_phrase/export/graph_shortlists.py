"""`decoding.shortlists` inside a TensorFlow graph.

Shapes: B sentences, V target vocabulary size, N tokens of the shortlist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from t2t_phrase.decoding.search.shortlist import ALLOWED, TOKENS
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.special_ids import EOS_ID, PAD_ID
from t2t_phrase.text.in_graph.visible import BLANKS

# Shortlists have one of these sizes, or that of the vocabulary.
SIZES = (1024, 4096)
# Punctuation and symbols, as in `word_aligner.words.compared`.
_SIGNS = r"[\pP\pS]+"


class GraphShortlists(tf.Module):
    """Proposes the target tokens of sentences, as `Shortlister` does.

    Args:
        shortlister: a shortlister that has read the lexicon.
        encode: maps strings (B,) to ragged ids (B, None) of the target vocabulary.
        vocab_size: V.
    """

    def __init__(
        self,
        shortlister: Shortlister,
        encode: Callable[[tf.Tensor], tf.RaggedTensor],
        vocab_size: int,
    ) -> None:
        super().__init__()
        self._encode, self._vocab_size = encode, vocab_size
        words = [*shortlister.by_source]
        self._always = tf.constant(sorted({*shortlister.always}), tf.int32)
        self._proposed = tf.ragged.constant(
            [[], *shortlister.by_source.values()], tf.int32, ragged_rank=1
        )
        # Row 0 is that of unknown words.
        self._table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(words, tf.string), tf.range(1, len(words) + 1)
            ),
            default_value=0,
        )

    def search(
        self,
        run: Callable[[dict[str, tf.Tensor]], Any],
        text: tf.Tensor,
        entries: tf.Tensor | None = None,
    ) -> Any:
        """Return the result of a search with the features of a shortlist.

        There is a graph for each size, of which one is run.

        Args:
            run: maps these features to nested tensors, whose shapes do not depend on N.
            text: (B,) string, the sources.
            entries: (B, ...) int32, tokens that are allowed in addition, padded with 0; None: none.
        """
        mask = self._mask(text, entries)
        own = tf.constant([PAD_ID, EOS_ID], tf.int32)
        used = tf.reduce_any(mask, axis=0) | tf.reduce_any(
            tf.range(self._vocab_size) == own[:, None], 0
        )
        tokens = tf.cast(tf.where(used)[:, 0], tf.int32)
        count = tf.size(tokens)
        tokens = tf.pad(tokens, [(0, self._vocab_size - count)], constant_values=tokens[-1])  # (V,)
        allowed = tf.gather(mask, tokens, axis=1) & (tf.range(self._vocab_size) < count)
        sizes = [size for size in SIZES if size < self._vocab_size] + [self._vocab_size]

        def of_size(size: int) -> Callable[[], Any]:
            rows = tf.shape(text)[0]
            return lambda: run(
                {
                    TOKENS: tf.reshape(tokens[:size], (size,)),
                    ALLOWED: tf.reshape(allowed[:, :size], (rows, size)),
                }
            )

        if len(sizes) == 1:
            return of_size(sizes[0])()
        index = tf.reduce_sum(tf.cast(count > tf.constant(sizes), tf.int32))
        return tf.switch_case(index, [of_size(size) for size in sizes])

    def _mask(self, text: tf.Tensor, entries: tf.Tensor | None) -> tf.Tensor:
        """Return (B, V) bool: the tokens proposed for each sentence."""
        text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
        words = tf.strings.split(tf.strings.regex_replace(text, BLANKS, " "))
        proposed = tf.gather(self._proposed, self._table.lookup(_compared(words.flat_values)))
        proposed = words.with_flat_values(proposed).merge_dims(1, 2)
        rows = tf.shape(text, out_type=tf.int64)[0]
        always = tf.RaggedTensor.from_tensor(
            tf.broadcast_to(self._always, (rows, tf.size(self._always, tf.int64)))
        )
        parts = [always, proposed, tf.cast(self._encode(text), tf.int32)]
        if entries is not None:
            parts.append(tf.RaggedTensor.from_tensor(tf.reshape(entries, (rows, -1))))
        found = tf.concat(parts, axis=1)
        places = tf.stack([found.value_rowids(), tf.cast(found.flat_values, tf.int64)], axis=1)
        ones = tf.ones_like(found.flat_values)
        counts = tf.scatter_nd(places, ones, tf.stack([rows, self._vocab_size]))
        return (counts > 0) & (tf.range(self._vocab_size) != PAD_ID)


def _compared(words: tf.Tensor) -> tf.Tensor:
    """Return words (N,) as `word_aligner.words.compared` does, in lower case."""
    bare = tf.strings.regex_replace(words, f"^{_SIGNS}|{_SIGNS}$", "")
    return tf.strings.lower(tf.where(bare == "", words, bare), encoding="utf-8")
