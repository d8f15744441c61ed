"""The entries of a dictionary that apply in each sentence, inside a TensorFlow graph.

Shapes: B sentences, T tokens, C characters, E entries, N characters of a phrase, M occurrences, L
tokens of a translation.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.dictionaries.matching import MOST_PUNCTUATION, OF_WORDS
from t2t_phrase.text.dictionaries.reader import FORBIDS
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.visible import BLANKS, first_visible
from t2t_phrase.text.in_graph.words import TfWords

_OF_WORDS = "[" + "".join(rf"\x{{{ord(char):X}}}" for char in OF_WORDS) + "]"
_NOWHERE = -1
_BLANK = ord(" ")


class GraphEntries(NamedTuple):
    """Entries as `decoding.search.guided` reads them.

    Attributes:
        starts: (B, T) int32, the number of the occurrence, from 1, that begins in the word of each
            token; else 0.
        tokens: (B, M, L) int32, the translation of each occurrence, 0 after its end.
        matched: (B,) int32, the number of occurrences.
    """

    starts: tf.Tensor
    tokens: tf.Tensor
    matched: tf.Tensor


class EntryTensors(NamedTuple):
    """The dictionary entries of each sentence.

    Attributes:
        phrases: (B, E, N), the characters of the source.
        lengths: (B, E), their number; 0 where there is no source, or no entry.
        targets: (B, E, L), the tokens of the target.
        forbidden: (B, E) string, the forbidden phrase; "": none.
    """

    phrases: tf.Tensor
    lengths: tf.Tensor
    targets: tf.Tensor
    forbidden: tf.Tensor


class Sentences(NamedTuple):
    """The characters of sentences, with one place after the last, (B, C) each.

    Attributes:
        codes: the characters; _NOWHERE after the end.
        words: the number of the word of each character, or of the next word if it is blank.
        visible: the number of visible characters before each.
        may_start: whether a phrase may begin with each.
        may_end: whether a phrase may end before each.
        word_ends: the end of the word of each.
    """

    codes: tf.Tensor
    words: tf.Tensor
    visible: tf.Tensor
    may_start: tf.Tensor
    may_end: tf.Tensor
    word_ends: tf.Tensor


def entries_in_graph(
    texts: tf.Tensor,
    starts: tf.RaggedTensor,
    dictionaries: tf.Tensor,
    encoder: TfSubwords | TfWords,
    *,
    most_tokens: int,
) -> GraphEntries:
    """Return the result of `decoding.dictionary.Dictionary.apply` without the entry numbers.

    Lines that are not entries are left out, and so are entries whose translation has unknown tokens
    or too many tokens. Of entries with the same source, the first one counts.

    Args:
        texts: (B,) string, the sentences.
        starts: (B, None) ragged int, where each token begins, in bytes.
        dictionaries: (B,) string, lines `source<TAB>target` for each sentence.
        encoder: encoder of the target.
        most_tokens: maximum number of tokens of a translation.
    """
    entries = entry_tensors(dictionaries, encoder, most_tokens=most_tokens)
    sentences = sentences_of(texts)
    found = occurrences(sentences, entries.phrases, entries.lengths)
    chosen, places = longest_first(sentences, found, entries.lengths)  # (B, M)
    real, chosen = chosen >= 0, tf.maximum(chosen, 0)
    numbers = tf.range(1, tf.shape(chosen)[1] + 1)
    inside = real[..., None] & _tokens_of_first_words(
        sentences, texts, starts, places, tf.gather(entries.lengths, chosen, batch_dims=1)
    )  # (B, M, T)
    tokens = tf.gather(entries.targets, chosen, batch_dims=1)
    return GraphEntries(
        tf.reduce_max(tf.where(inside, numbers[:, None], 0), axis=1),
        tf.where(real[..., None], tokens, 0),
        tf.reduce_sum(tf.cast(real, tf.int32), axis=1),
    )


def entry_tensors(
    dictionaries: tf.Tensor,
    encoder: TfSubwords | TfWords,
    *,
    most_tokens: int,
    forbids: bool = False,
) -> EntryTensors:
    """Return the entries of dictionaries, at least one for each; entries may be invalid.

    Args:
        dictionaries: (B,) string, lines `source<TAB>target` for each sentence.
        encoder: encoder of the target.
        most_tokens: maximum number of tokens of a translation.
        forbids: whether targets `!phrase` are forbidden phrases, which need no source.
    """
    lines = tf.strings.split(dictionaries, "\n").to_tensor("")
    lines = tf.pad(lines, [(0, 0), (0, 1)], constant_values="")
    shape = tf.shape(lines)
    fields = tf.strings.split(tf.reshape(lines, (-1,)), "\t")
    count = fields.row_lengths()
    pairs = normalized(fields.to_tensor("", shape=(None, 2)))
    ids = tf.cast(encoder.encode(pairs[:, 1]), tf.int32)
    unknown = tf.reduce_any(ids == UNK_ID, axis=1)
    size = ids.row_lengths()
    good = (count == 2) & (size > 0) & (size <= most_tokens) & ~unknown
    banned = tf.fill(tf.shape(good), "")
    if forbids:
        bans = (count == 2) & tf.strings.regex_full_match(pairs[:, 1], FORBIDS + "[^ ].*")
        banned = tf.where(bans, tf.strings.regex_replace(pairs[:, 1], "^" + FORBIDS, ""), "")
        good |= bans
    sources = tf.where(good, pairs[:, 0], "")
    codes = tf.strings.unicode_decode(sources, "UTF-8")
    lengths = tf.reshape(tf.cast(codes.row_lengths(), tf.int32), shape)
    codes = codes.to_tensor(_NOWHERE)
    targets = ids[:, :most_tokens].to_tensor(0)
    # Nothing can be gathered from an axis of length 0.
    targets = tf.pad(targets, [(0, 0), (0, tf.cast(tf.shape(targets)[1] == 0, tf.int32))])
    phrases, targets = (
        tf.reshape(values, (shape[0], shape[1], tf.shape(values)[1])) for values in (codes, targets)
    )
    return EntryTensors(phrases, lengths, targets, tf.reshape(banned, shape))


def normalized(texts: tf.Tensor) -> tf.Tensor:
    """Return texts with single spaces, and none at their ends."""
    return tf.strings.strip(tf.strings.regex_replace(texts, BLANKS, " "))


def sentences_of(texts: tf.Tensor) -> Sentences:
    """Return the characters of texts (B,)."""
    texts = normalized(texts)
    codes = tf.strings.unicode_decode(texts, "UTF-8").to_tensor(_NOWHERE)
    codes = tf.pad(codes, [(0, 0), (0, 1)], constant_values=_NOWHERE)  # (B, C)
    chars = tf.strings.unicode_split(texts, "UTF-8").to_tensor("")
    chars = tf.pad(chars, [(0, 0), (0, 1)], constant_values="")
    edge = tf.strings.regex_full_match(chars, r"\p{P}")
    edge &= ~tf.strings.regex_full_match(chars, _OF_WORDS)
    width = tf.shape(codes)[1]
    place = tf.range(width)
    apart = (codes == _BLANK) | (codes == _NOWHERE)
    others = tf.cast(~edge, tf.int32)
    before = tf.cumsum(others, axis=1, exclusive=True)
    # Where the word of each character begins and ends.
    begins = tf.where(apart, place + 1, 0)
    begins = tf.pad(_cumulative_max(begins)[:, :-1], [(0, 0), (1, 0)])
    ends = tf.reverse(-_cumulative_max(tf.reverse(tf.where(apart, -place, -width), [1])), [1])
    ends = tf.minimum(ends, width - 1)
    skipped, left = place - begins, ends - place
    clear = before == tf.gather(before, tf.minimum(begins, width - 1), batch_dims=1)
    rest = before == tf.gather(before, ends, batch_dims=1)
    return Sentences(
        codes,
        tf.cumsum(tf.cast(apart, tf.int32), axis=1, exclusive=True),
        tf.cumsum(tf.cast(~apart, tf.int32), axis=1, exclusive=True),
        ~apart & clear & (skipped <= MOST_PUNCTUATION),
        rest & (left <= MOST_PUNCTUATION),
        ends,
    )


def _cumulative_max(values: tf.Tensor) -> tf.Tensor:
    """Return the maximum of (B, C) up to each place, by steps that double."""
    width = tf.shape(values)[1]
    least = values.dtype.min

    def double(step: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        earlier = tf.pad(x, [(0, 0), (step, 0)], constant_values=least)[:, :width]
        return 2 * step, tf.maximum(x, earlier)

    _, found = tf.while_loop(
        lambda step, x: step < width,
        double,
        (tf.constant(1), values),
        shape_invariants=(tf.TensorShape(()), tf.TensorShape((None, None))),
    )
    return found


def occurrences(sentences: Sentences, phrases: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Return (B, E, C) bool: whether each phrase (B, E, N) occurs at each character."""
    codes, width = sentences.codes, tf.shape(sentences.codes)[1]
    size = tf.shape(phrases)[2]
    longer = tf.pad(codes, [(0, 0), (0, size)], constant_values=_NOWHERE)

    def compare(place: tf.Tensor, equal: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        wanted = phrases[:, :, place, None]
        there = longer[:, None, place : place + width]
        return place + 1, equal & ((wanted == there) | (wanted == _NOWHERE))

    start = tf.broadcast_to(
        sentences.may_start[:, None] & (lengths[..., None] > 0),
        (tf.shape(codes)[0], tf.shape(phrases)[1], width),
    )
    _, equal = tf.while_loop(lambda place, _: place < size, compare, (tf.constant(0), start))
    return equal & tf.gather(sentences.may_end, _ends(lengths, width), batch_dims=1)


def _ends(lengths: tf.Tensor, width: tf.Tensor) -> tf.Tensor:
    """Return (B, E, C): the place after a phrase that begins at each place."""
    ends = tf.range(width) + lengths[..., None]
    return tf.minimum(ends, width - 1)


def longest_first(
    sentences: Sentences, found: tf.Tensor, lengths: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the entries and the first characters of occurrences that do not overlap, (B, M) each.

    The entry is -1 where a sentence has fewer than M occurrences; M is at least 1.
    """
    batch, _, width = tf.unstack(tf.shape(found))
    place = tf.range(width)
    rank = lengths[..., None] * width + (width - 1 - place)
    last = tf.gather(sentences.words, tf.maximum(_ends(lengths, width) - 1, 0), batch_dims=1)
    first = tf.broadcast_to(sentences.words[:, None], tf.shape(last))

    def choose(
        left: tf.Tensor, entries: tf.Tensor, places: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        best = tf.argmax(
            tf.reshape(tf.where(left, rank, -1), (batch, -1)), axis=1, output_type=tf.int32
        )
        entry, at = best // width, best % width
        indices = tf.stack([tf.range(batch), entry, at], axis=1)
        exists = tf.gather_nd(left, indices)
        begin, end = (tf.gather_nd(of, indices)[:, None, None] for of in (first, last))
        overlaps = (first <= end) & (last >= begin) & exists[:, None, None]
        entries = tf.concat([entries, tf.where(exists, entry, -1)[:, None]], axis=1)
        return left & ~overlaps, entries, tf.concat([places, at[:, None]], axis=1)

    none = tf.zeros((batch, 0), tf.int32)
    open_ended = tf.TensorShape((None, None))
    _, entries, places = tf.while_loop(
        lambda left, entries, _: tf.reduce_any(left) | (tf.shape(entries)[1] == 0),
        choose,
        (found, none, none),
        shape_invariants=(found.shape, open_ended, open_ended),
    )
    return entries, places


def _tokens_of_first_words(
    sentences: Sentences,
    texts: tf.Tensor,
    starts: tf.RaggedTensor,
    places: tf.Tensor,
    lengths: tf.Tensor,
) -> tf.Tensor:
    """Return (B, M, T) bool: whether each token stands for the first word of each occurrence.

    Args:
        sentences: the characters.
        texts: (B,) string.
        starts: where tokens begin, in bytes.
        places: (B, M), the first character of each occurrence.
        lengths: (B, M), the number of characters of each occurrence.
    """
    first = first_visible(texts, starts)  # (B, T)
    real = tf.sequence_mask(starts.row_lengths(), tf.shape(first)[1])
    total = tf.reduce_max(sentences.visible, axis=1, keepdims=True)
    first = tf.where(real, first, total)
    after = tf.maximum(tf.concat([first[:, 1:], total], axis=1), first + 1)
    ends = tf.minimum(places + lengths, tf.gather(sentences.word_ends, places, batch_dims=1))
    begin = tf.gather(sentences.visible, places, batch_dims=1)[..., None]
    end = tf.gather(sentences.visible, ends, batch_dims=1)[..., None]
    return real[:, None] & (first[:, None] < end) & (after[:, None] > begin)
