"""The tokens that can spell parts of texts, inside a TensorFlow graph.

Shapes: N texts, Q bytes, E edges.
"""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.text.token_texts import TokenTexts

# The ranks of tokens that begin with a text are looked up as one number: low * _SHIFT + high.
_SHIFT = 2**31


class TfSpellings(tf.Module):
    """`TokenTexts` for string tensors; the tables are part of the graph.

    Args:
        texts: texts of the vocabulary's tokens.
    """

    def __init__(self, texts: TokenTexts) -> None:
        super().__init__()
        self.longest = max(map(len, texts.texts))
        by_text: dict[bytes, list[int]] = {}
        for token, text in enumerate(texts.texts):
            if text:
                by_text.setdefault(text, []).append(token)
        most = max(map(len, by_text.values()))
        # Several tokens may have the same text, such as a letter and a byte.
        self.tokens = [
            _table({text: own[number] for text, own in by_text.items() if len(own) > number})
            for number in range(most)
        ]
        prefixes = texts.prefixes()
        self.ranges = _table({text: low * _SHIFT + high for text, (low, high) in prefixes.items()})

    def edges(self, texts: tf.Tensor) -> tf.Tensor:
        """Return the tokens that spell parts of each text, as (N, E, 3) int32, 0-padded.

        See `TokenTexts.edges`; the order differs.

        Args:
            texts: (N,) string.
        """
        sizes = tf.strings.length(texts)
        places = tf.range(tf.maximum(tf.reduce_max(sizes), 1))
        lengths = tf.range(1, self.longest + 1)
        ends = places[:, None] + lengths  # (Q, longest)
        shape = tf.concat([tf.shape(texts), tf.shape(ends)], axis=0)
        starts = tf.broadcast_to(places[:, None], shape)
        ends = tf.broadcast_to(ends, shape)
        inside = ends <= sizes[:, None, None]
        # What follows each place, of which a copy is made for each length; not of the whole text.
        begun = tf.minimum(places, sizes[:, None])
        follows = tf.strings.substr(texts[:, None], begun, tf.fill(tf.shape(begun), self.longest))
        parts = tf.strings.substr(
            tf.broadcast_to(follows[..., None], shape),
            tf.zeros(shape, tf.int32),
            tf.broadcast_to(lengths, shape),
        )
        found = []
        for table in self.tokens:
            tokens = tf.cast(tf.where(inside, table.lookup(parts), 0), tf.int32)
            edges = tf.stack([starts, ends, tokens], axis=-1)
            found.append(tf.reshape(edges, (shape[0], -1, 3)))
        every = tf.concat(found, axis=1)
        return tf.ragged.boolean_mask(every, every[..., 2] > 0).to_tensor(0, shape=(None, None, 3))

    def ranks(self, texts: tf.Tensor) -> tf.Tensor:
        """Return the ranks of the tokens that begin with the rest of a text, from each place.

        Args:
            texts: (N,) string.

        Returns:
            (N, Q, 2) int32, see `TokenTexts.ranks_beginning_with`; 0 after the end.
        """
        sizes = tf.strings.length(texts)
        places = tf.range(tf.maximum(tf.reduce_max(sizes), 1))
        shape = tf.concat([tf.shape(texts), tf.shape(places)], axis=0)
        inside = places < sizes[:, None]
        # No token begins with a text that is longer than all of them.
        rest = tf.strings.substr(
            texts[:, None],
            tf.minimum(places, sizes[:, None]),
            tf.fill(shape, self.longest + 1),
        )
        found = tf.where(inside, self.ranges.lookup(rest), 0)
        return tf.cast(tf.stack([found // _SHIFT, found % _SHIFT], axis=-1), tf.int32)


def _table(values: dict[bytes, int]) -> tf.lookup.StaticHashTable:
    """Return a table of numbers by text; 0: none."""
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(list(values), tf.string), tf.constant(list(values.values()), tf.int64)
        ),
        default_value=0,
    )
