"""The occurrences of phrases in sentences, inside a TensorFlow graph.

Phrases are compared by keys, numbers computed from their characters: the same for equal phrases,
and different for others with near certainty. All places of a sentence are looked up at once for
each length that a phrase has, so time and memory do not grow with the product of both texts.

Shapes: B sentences, C characters, E phrases, D lengths, M occurrences.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.text.in_graph.sentences import Sentences, cumulative_max

# Keys are two numbers modulo this prime, polynomials in the bases.
_PRIME = 2**31 - 1
_BASES = (911_382_323, 1_972_663_749)
_INVERSES = tuple(pow(base, -1, _PRIME) for base in _BASES)
# Greater than any key.
_NO_KEY = tf.int64.max


class PhraseIndex(NamedTuple):
    """The phrases of each sentence, ordered by key.

    Attributes:
        keys: (B, E) int64, ascending; at the end, those of phrases that are left out.
        order: (B, E) int32, the number of each; equal phrases are in the order of their numbers.
        sizes: (B, D) int32, the different lengths, the longest first, then 0.
    """

    keys: tf.Tensor
    order: tf.Tensor
    sizes: tf.Tensor


def phrase_keys(codes: tf.RaggedTensor) -> tf.Tensor:
    """Return the keys (N,) int64 of phrases, given by their characters (N, None)."""
    values = tf.cast(codes.flat_values, tf.int64) + 2
    rows = codes.value_rowids()
    size = tf.size(values, tf.int64)
    places = tf.range(size) - tf.gather(codes.row_starts(), rows)
    terms = values[:, None] * tf.gather(_powers(_BASES, size), places) % _PRIME
    count = codes.nrows()
    return _joined(tf.math.unsorted_segment_sum(terms, rows, count) % _PRIME)


def index_of(keys: tf.Tensor, lengths: tf.Tensor) -> PhraseIndex:
    """Return the index of phrases.

    Args:
        keys: (B, E) int64, see `phrase_keys`.
        lengths: (B, E) int32, numbers of characters; phrases with 0 are left out.
    """
    keys = tf.where(lengths > 0, keys, _NO_KEY)
    order = tf.argsort(keys, axis=1, stable=True)
    sizes = tf.sort(lengths, axis=1, direction="DESCENDING")
    before = tf.pad(sizes[:, :-1], [(0, 0), (1, 0)])
    different = tf.ragged.boolean_mask(sizes, (sizes != before) & (sizes > 0))
    return PhraseIndex(tf.gather(keys, order, batch_dims=1), order, different.to_tensor(0))


def occurring(sentences: Sentences, keys: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Return (B, E) bool: whether each phrase occurs; see `index_of`."""
    index, text = index_of(keys, lengths), _Text(sentences)

    def look(number: tf.Tensor, met: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        here, slots = text.find(index, number)
        return number + 1, met | _marked(slots, here, tf.shape(keys)[1])

    _, met = tf.while_loop(
        lambda number, _: number < tf.shape(index.sizes)[1],
        look,
        (tf.constant(0), tf.zeros_like(keys, tf.bool)),
    )
    slots = tf.minimum(tf.searchsorted(index.keys, keys), tf.shape(keys)[1] - 1)
    return tf.gather(met, slots, batch_dims=1) & (lengths > 0)


def longest_first(sentences: Sentences, index: PhraseIndex) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the phrases and the first characters of occurrences without overlaps, (B, M) each.

    Longer phrases take precedence, then those further left. Occurrences are in the order of the
    sentence; the phrase is -1 where a sentence has fewer than M, and M is at least 1.
    """
    text = _Text(sentences)
    batch, width = tf.unstack(tf.shape(sentences.codes))
    words, place = sentences.words, tf.range(width)

    def choose(
        number: tf.Tensor, chosen: tf.Tensor, taken: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        here, slots = text.find(index, number)
        size = index.sizes[:, number, None]
        last = tf.gather(words, tf.clip_by_value(place + size - 1, 0, width - 1), batch_dims=1)
        sums = tf.pad(tf.cumsum(tf.cast(taken, tf.int32), axis=1), [(0, 0), (1, 0)])
        free = tf.gather(sums, last + 1, batch_dims=1) == tf.gather(sums, words, batch_dims=1)
        picked = _leftmost(here & free, tf.searchsorted(words, last + 1))
        chosen = tf.where(picked, tf.gather(index.order, slots, batch_dims=1), chosen)
        flat = width + 1
        begin, end = (_counted(words + after, picked, flat) for after in (0, last - words + 1))
        covered = tf.cumsum(begin - end, axis=1)[:, :width] > 0
        return number + 1, chosen, taken | covered

    _, chosen, _ = tf.while_loop(
        lambda number, *_: number < tf.shape(index.sizes)[1],
        choose,
        (
            tf.constant(0),
            tf.fill((batch, width), -1),
            tf.fill((batch, width), False),
        ),
    )
    places = tf.broadcast_to(place, (batch, width))
    found, places = (
        tf.ragged.boolean_mask(values, chosen >= 0).to_tensor(empty)
        for values, empty in ((chosen, -1), (places, 0))
    )
    least = [(0, 0), (0, tf.cast(tf.shape(found)[1] == 0, tf.int32))]
    return tf.pad(found, least, constant_values=-1), tf.pad(places, least)


class _Text:
    """The keys of all parts of sentences."""

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        width = tf.shape(sentences.codes, tf.int64)[1]
        # Where there is no character, the value is 1.
        values = tf.cast(sentences.codes, tf.int64)[..., None] + 2
        sums = tf.cumsum(values * _powers(_BASES, width) % _PRIME, axis=1)
        self._sums = tf.pad(sums % _PRIME, [(0, 0), (1, 0), (0, 0)])
        self._inverses = _powers(_INVERSES, width)

    def find(self, index: PhraseIndex, number: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return where phrases of a length occur.

        Args:
            index: the phrases.
            number: that of the length.

        Returns:
            (here, slots): (B, C) bool, whether one begins at each character, and (B, C) int32, its
            place in the index.
        """
        sentences, size = self._sentences, index.sizes[:, number, None]
        width = tf.shape(sentences.codes)[1]
        ends = tf.range(width) + size
        here = sentences.may_start & (size > 0) & (ends < width)
        ends = tf.minimum(ends, width - 1)
        here &= tf.gather(sentences.may_end, ends, batch_dims=1)
        parts = tf.gather(self._sums, ends, batch_dims=1) - self._sums[:, :-1]
        keys = _joined(parts % _PRIME * self._inverses % _PRIME)
        slots = tf.minimum(tf.searchsorted(index.keys, keys), tf.shape(index.keys)[1] - 1)
        return here & (tf.gather(index.keys, slots, batch_dims=1) == keys), slots


def _leftmost(here: tf.Tensor, following: tf.Tensor) -> tf.Tensor:
    """Return (B, C) bool: of the places that are `here`, the first, the first that follows it, etc.

    Args:
        here: (B, C) bool.
        following: (B, C) int32, the least place that follows each; C: none.
    """
    width = tf.shape(here)[1]
    place = tf.range(width)
    least = -tf.reverse(cumulative_max(tf.reverse(tf.where(here, -place, -width), [1])), [1])
    least = tf.pad(least, [(0, 0), (0, 1)], constant_values=width)
    jumps = tf.pad(
        tf.gather(least, following, batch_dims=1), [(0, 0), (0, 1)], constant_values=width
    )
    first = least[:, :1]

    def double(marks: tf.Tensor, jumps: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        marks |= _marked(jumps, marks, width + 1)
        return marks, tf.gather(jumps, jumps, batch_dims=1)

    # After n steps, 2^n places are marked, and a jump is one of as many places.
    marks, _ = tf.while_loop(
        lambda _, jumps: tf.reduce_any(tf.gather(jumps, first, batch_dims=1) < width),
        double,
        (tf.range(width + 1) == first, jumps),
    )
    return marks[:, :width]


def _marked(slots: tf.Tensor, here: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Return (B, size) bool: the slots (B, N) of places that are `here`."""
    return _counted(slots, here, size) > 0


def _counted(slots: tf.Tensor, here: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Return (B, size) int32: how many places that are `here` have each of the slots (B, N)."""
    batch = tf.shape(slots)[0]
    rows = tf.range(batch)[:, None] * size
    found = tf.math.unsorted_segment_sum(tf.cast(here, tf.int32), rows + slots, batch * size)
    return tf.reshape(found, (batch, size))


def _powers(bases: tuple[int, ...], count: tf.Tensor) -> tf.Tensor:
    """Return (count, 2) int64: the powers of two numbers, from 0 on."""
    _, found = tf.while_loop(
        lambda _, found: tf.shape(found, tf.int64)[0] < count,
        lambda step, found: (
            step * step % _PRIME,
            tf.concat([found, found * step % _PRIME], axis=0),
        ),
        (tf.constant(bases, tf.int64), tf.ones((1, len(bases)), tf.int64)),
        shape_invariants=(tf.TensorShape((len(bases),)), tf.TensorShape((None, len(bases)))),
    )
    return found[:count]


def _joined(numbers: tf.Tensor) -> tf.Tensor:
    """Return the keys of pairs of numbers (..., 2)."""
    return numbers[..., 0] * 2**31 + numbers[..., 1]
