"""The entries of a dictionary that apply in each sentence, inside a TensorFlow graph.

Shapes: B sentences, T tokens, C characters, E entries, M occurrences, L tokens of a translation.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.dictionaries.reader import FORBIDS, LONGEST_PHRASE
from t2t_phrase.text.in_graph.matching import index_of, longest_first, phrase_keys
from t2t_phrase.text.in_graph.sentences import Sentences, normalized, sentences_of
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.visible import first_visible
from t2t_phrase.text.in_graph.words import TfWords


class GraphEntries(NamedTuple):
    """Entries as `decoding.search.guided` reads them.

    Attributes:
        starts: (B, T) int32, the number of the occurrence, from 1, that begins in the word of each
            token; else 0.
        tokens: (B, M, L) int32, the translation of each occurrence, 0 after its end; at least of
            those in which a token begins.
        matched: (B,) int32, the number of occurrences.
    """

    starts: tf.Tensor
    tokens: tf.Tensor
    matched: tf.Tensor


class EntryTensors(NamedTuple):
    """The dictionary entries of each sentence.

    Attributes:
        keys: (B, E) int64, those of the sources, see `matching.phrase_keys`.
        lengths: (B, E), the number of their characters; 0 where there is no source, or no entry.
        targets: (B, E, L), the tokens of the target.
        forbidden: (B, E) string, the forbidden phrase; "": none.
    """

    keys: tf.Tensor
    lengths: tf.Tensor
    targets: tf.Tensor
    forbidden: tf.Tensor


def entries_in_graph(
    texts: tf.Tensor,
    starts: tf.RaggedTensor,
    dictionaries: tf.Tensor,
    encoder: TfSubwords | TfWords,
    *,
    most_tokens: int,
    most_read: int = 0,
) -> GraphEntries:
    """Return the result of `decoding.dictionary.Dictionary.apply` without the entry numbers.

    Lines that are not entries are left out, and so are entries that have too many words, or whose
    translation cannot be spelt or has too many tokens. Of entries with the same source, the first
    one counts.

    Args:
        texts: (B,) string, the sentences.
        starts: (B, None) ragged int, where each token begins, in bytes.
        dictionaries: (B,) string, lines `source<TAB>target` for each sentence.
        encoder: encoder of the target.
        most_tokens: maximum number of tokens of a translation.
        most_read: T; of longer sentences, the results for the last of these tokens are not exact.
            0: all tokens.
    """
    entries = entry_tensors(dictionaries, encoder, most_tokens=most_tokens)
    sentences = sentences_of(texts)
    chosen, places = longest_first(sentences, index_of(entries.keys, entries.lengths))  # (B, M)
    matched = tf.reduce_sum(tf.cast(chosen >= 0, tf.int32), axis=1)
    if most_read:
        # Occurrences after the tokens that are read need no room.
        read = starts[:, :most_read]
        border = tf.where(
            starts.row_lengths() > most_read,
            tf.reduce_max(first_visible(texts, read), axis=1),
            tf.reduce_max(sentences.visible, axis=1),
        )
        starts = read
        near = (chosen >= 0) & (
            tf.gather(sentences.visible, places, batch_dims=1) <= border[:, None]
        )
        count = tf.maximum(tf.reduce_max(tf.reduce_sum(tf.cast(near, tf.int32), axis=1)), 1)
        chosen, places = chosen[:, :count], places[:, :count]
    real, chosen = chosen >= 0, tf.maximum(chosen, 0)
    numbers = tf.range(1, tf.shape(chosen)[1] + 1)
    inside = real[..., None] & _tokens_of_first_words(
        sentences, texts, starts, places, tf.gather(entries.lengths, chosen, batch_dims=1)
    )  # (B, M, T)
    tokens = tf.gather(entries.targets, chosen, batch_dims=1)
    return GraphEntries(
        tf.reduce_max(tf.where(inside, numbers[:, None], 0), axis=1),
        tf.where(real[..., None], tokens, 0),
        matched,
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
    size = ids.row_lengths()
    joined = tf.strings.regex_replace(pairs, " ", "")
    blanks = tf.strings.length(pairs) - tf.strings.length(joined)
    pair = (count == 2) & tf.reduce_all(blanks < LONGEST_PHRASE, axis=1)
    good = pair & (size > 0) & (size <= most_tokens) & can_spell(encoder, ids, pairs[:, 1])
    banned = tf.fill(tf.shape(good), "")
    if forbids:
        bans = pair & tf.strings.regex_full_match(pairs[:, 1], FORBIDS + "[^ ].*")
        banned = tf.where(bans, tf.strings.regex_replace(pairs[:, 1], "^" + FORBIDS, ""), "")
        good |= bans
    sources = tf.where(good, pairs[:, 0], "")
    codes = tf.strings.unicode_decode(sources, "UTF-8")
    lengths = tf.reshape(tf.cast(codes.row_lengths(), tf.int32), shape)
    targets = ids[:, :most_tokens].to_tensor(0)
    # Nothing can be gathered from an axis of length 0.
    targets = tf.pad(targets, [(0, 0), (0, tf.cast(tf.shape(targets)[1] == 0, tf.int32))])
    targets = tf.reshape(targets, (shape[0], shape[1], tf.shape(targets)[1]))
    keys = tf.reshape(phrase_keys(codes), shape)
    return EntryTensors(keys, lengths, targets, tf.reshape(banned, shape))


def can_spell(encoder: TfSubwords | TfWords, ids: tf.RaggedTensor, texts: tf.Tensor) -> tf.Tensor:
    """Return (N,) bool: whether ids stand for their texts, which vocabularies may normalise.

    Args:
        encoder: encoder of the target.
        ids: (N, None), what the texts are encoded as.
        texts: (N,) string, see `sentences.normalized`.
    """
    unknown = tf.reduce_any(ids == UNK_ID, axis=1)
    return (normalized(encoder.decode(ids)) == texts) & ~unknown


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
