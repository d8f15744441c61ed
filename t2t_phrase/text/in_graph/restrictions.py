"""Required terms, forbidden phrases and prefixes of sentences, inside a TensorFlow graph.

Shapes: B sentences, E entries, M occurrences, A alternatives, L tokens of an alternative, G edges,
P tokens of a prefix, Q places in a word.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.in_graph.dictionaries import (
    EntryTensors,
    entry_tensors,
    longest_first,
    normalized,
    occurrences,
    sentences_of,
)
from t2t_phrase.text.in_graph.spellings import TfSpellings
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.visible import BLANKS
from t2t_phrase.text.in_graph.words import TfWords


class GraphTerms(NamedTuple):
    """Terms as the search reads them.

    Attributes:
        terms: (B, M, A, L) int32, see `decoding.search.required_terms.TERMS`; only occurrences that
            there is room for, but at least one row.
        edges: (B, G, 3) int32, see `decoding.search.forbidden.EDGES`.
        matched: (B,) int32, the number of occurrences of required entries.
    """

    terms: tf.Tensor
    edges: tf.Tensor
    matched: tf.Tensor


class GraphPrefixes(NamedTuple):
    """Prefixes as the search reads them, see `decoding.search.prefix.Prefix`.

    Attributes:
        tokens: (B, P) int32.
        edges: (B, G, 3) int32.
        ranges: (B, Q, 2) int32.
        kept: (B,) bool, whether the translation begins as wanted; a prefix is dropped where no
            tokens spell it, or too many.
    """

    tokens: tf.Tensor
    edges: tf.Tensor
    ranges: tf.Tensor
    kept: tf.Tensor


def terms_in_graph(
    texts: tf.Tensor,
    dictionaries: tf.Tensor,
    limits: tf.Tensor,
    encoder: TfSubwords | TfWords,
    spellings: TfSpellings,
    *,
    most_tokens: int,
    first_place: int,
) -> GraphTerms:
    """Return the result of `decoding.terms.RequiredTerms.apply`, without the names.

    Lines that are not entries are left out, and so are targets with unknown tokens or too many.

    Args:
        texts: (B,) string, the sentences.
        dictionaries: (B,) string, lines `source<TAB>target` for each sentence.
        limits: (B,) int32, maximum lengths of the outputs.
        encoder: encoder of the target.
        spellings: spellings of the target.
        most_tokens: maximum number of tokens of a translation.
        first_place: first of the places in forbidden phrases, see `decoding.search.forbidden`.
    """
    entries = entry_tensors(dictionaries, encoder, most_tokens=most_tokens, forbids=True)
    sentences = sentences_of(texts)
    is_ban = entries.forbidden != ""
    lengths = tf.where(is_ban, 0, entries.lengths)
    found = occurrences(sentences, entries.phrases, lengths)
    chosen, places = longest_first(sentences, found, lengths)  # (B, M)
    # Terms are required in the order of the source.
    width = tf.shape(sentences.codes)[1]
    order = tf.argsort(tf.where(chosen >= 0, places, width), axis=1, stable=True)
    chosen = tf.gather(chosen, order, batch_dims=1)
    terms = _alternatives(entries, lengths, chosen)
    sizes = tf.reduce_sum(tf.cast(terms > 0, tf.int32), axis=-1)
    least = tf.reduce_min(tf.where(sizes > 0, sizes, most_tokens + 1), axis=-1)
    needed = tf.cumsum(tf.where(chosen >= 0, least, 0), axis=1)
    room = (chosen >= 0) & (needed < limits[:, None])
    banning = occurrences(sentences, entries.phrases, tf.where(is_ban, entries.lengths, 0))
    bans = is_ban & ((entries.lengths == 0) | tf.reduce_any(banning, axis=2))
    # Without words, there is no translation.
    bans &= (normalized(texts) != "")[:, None]
    # The search takes time for every row, so those that no sentence has room for are left out.
    rows = tf.maximum(tf.reduce_max(tf.reduce_sum(tf.cast(room, tf.int32), axis=1)), 1)
    return GraphTerms(
        tf.where(room[..., None, None], terms, 0)[:, :rows],
        _forbidden_edges(tf.where(bans, entries.forbidden, ""), spellings, first_place),
        tf.reduce_sum(tf.cast(chosen >= 0, tf.int32), axis=1),
    )


def prefixes_in_graph(
    prefixes: tf.Tensor, limits: tf.Tensor, encoder: TfSubwords | TfWords, spellings: TfSpellings
) -> GraphPrefixes:
    """Return the result of `decoding.prefixes.Prefixes.encode`.

    Args:
        prefixes: (B,) string; a text without words is no prefix.
        limits: (B,) int32, maximum lengths of the outputs.
        encoder: encoder of the target.
        spellings: spellings of the target.
    """
    clean = normalized(prefixes)
    whole = tf.strings.regex_full_match(prefixes, "(?s).*" + BLANKS)
    last = tf.strings.regex_replace(clean, "^.* ", "")
    before = tf.where(whole, clean, tf.strings.regex_replace(clean, " ?[^ ]*$", ""))
    last = tf.where(whole, " ", tf.strings.join([" ", last]))
    ids = tf.cast(encoder.encode(before), tf.int32)
    every = tf.cast(encoder.encode(clean), tf.int32)
    ranges, edges = spellings.ranks(last), spellings.edges(last)
    edges = tf.where((edges[..., 1] < tf.strings.length(last)[:, None])[..., None], edges, 0)
    if isinstance(encoder, TfWords):
        # No token can continue a shorter word, because every token begins with a blank.
        edges = tf.zeros_like(edges)
    possible = tf.reduce_any(edges[..., 2] > 0, axis=1) | (ranges[:, 0, 1] > ranges[:, 0, 0])
    possible &= ~tf.reduce_any(ids == UNK_ID, axis=1)
    needed = tf.cast(every.row_lengths(), tf.int32) + tf.cast(whole, tf.int32) + 1
    possible &= needed <= limits
    wanted = clean != ""
    here = wanted & possible
    tokens = tf.where(here[:, None], ids.to_tensor(0), 0)
    return GraphPrefixes(
        tf.pad(tokens, [(0, 0), (0, 1)]),
        tf.pad(tf.where(here[:, None, None], edges, 0), [(0, 0), (0, 1), (0, 0)]),
        tf.where(here[:, None, None], ranges, 0),
        here | ~wanted,
    )


def _alternatives(entries: EntryTensors, lengths: tf.Tensor, chosen: tf.Tensor) -> tf.Tensor:
    """Return (B, M, A, L): the targets of all entries with the source of a chosen one.

    Args:
        entries: entries of the dictionaries.
        lengths: (B, E), lengths of the sources; 0: not required.
        chosen: (B, M), the first entry with each source; -1: none.
    """
    own = tf.gather(entries.phrases, tf.maximum(chosen, 0), batch_dims=1)  # (B, M, N)
    same = tf.reduce_all(own[:, :, None] == entries.phrases[:, None], axis=-1)
    same &= (lengths > 0)[:, None] & (chosen >= 0)[..., None]  # (B, M, E)
    count = tf.shape(lengths)[1]
    most = tf.maximum(tf.reduce_max(tf.reduce_sum(tf.cast(same, tf.int32), axis=-1)), 1)
    numbers = tf.range(count)
    order = tf.sort(tf.where(same, numbers, count), axis=-1)[..., :most]  # (B, M, A)
    targets = tf.gather(entries.targets, tf.minimum(order, count - 1), batch_dims=1)
    return tf.where((order < count)[..., None], targets, 0)


def _forbidden_edges(phrases: tf.Tensor, spellings: TfSpellings, first_place: int) -> tf.Tensor:
    """Return (B, G, 3): `decoding.terms.joined_edges` of phrases (B, E); "": none.

    The places and the order of the edges differ, and unreachable edges are not left out.
    """
    batch, count = tf.unstack(tf.shape(phrases))
    texts = tf.reshape(tf.where(phrases == "", "", tf.strings.join([" ", phrases])), (-1,))
    sizes = tf.strings.length(texts)
    edges = spellings.edges(texts)  # (B E, G, 3)
    starts, ends, tokens = tf.unstack(edges, axis=-1)
    # A part that ends in a blank may be followed by another blank.
    last = tf.strings.substr(
        tf.where(tokens > 0, tf.broadcast_to(texts[:, None], tf.shape(ends)), " "),
        tf.where(tokens > 0, ends - 1, 0),
        tf.ones_like(ends),
    )
    blank = (last == " ") & (tokens > 0)
    starts = tf.concat([starts, starts], axis=1)
    ends = tf.concat([ends, ends - 1], axis=1)
    tokens = tf.concat([tokens, tf.where(blank, tokens, 0)], axis=1)
    tokens = tf.where(ends > 1, tokens, 0)
    # All phrases share places 0 and 1, and the place of their end.
    by_sentence = tf.reshape(sizes, (batch, count))
    shift = tf.reshape(tf.cumsum(by_sentence, axis=1, exclusive=True), (-1, 1)) + first_place - 2

    def numbered(places: tf.Tensor) -> tf.Tensor:
        shifted = tf.where(places >= 2, places + shift, places)
        return tf.where(places == sizes[:, None], first_place - 1, shifted)

    every = tf.stack([numbered(starts), numbered(ends), tokens], axis=-1)
    every = tf.reshape(every, (batch, -1, 3))
    kept = tf.ragged.boolean_mask(every, every[..., 2] > 0).to_tensor(0, shape=(None, None, 3))
    # There are as many places as edges.
    places = tf.reduce_max(tf.reduce_sum(by_sentence, axis=1))
    missing = tf.maximum(places - tf.shape(kept)[1], 1)
    return tf.pad(kept, [(0, 0), (0, missing), (0, 0)])
