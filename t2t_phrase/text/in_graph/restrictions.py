"""Required terms, forbidden phrases and prefixes of sentences, inside a TensorFlow graph.

Shapes: B sentences, E entries, M occurrences, A alternatives, L tokens of an alternative, G edges,
P tokens of a prefix, Q places in a word.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_phrase.text.in_graph.dictionaries import can_spell, entry_tensors
from t2t_phrase.text.in_graph.matching import PhraseIndex, index_of, longest_first, occurring
from t2t_phrase.text.in_graph.sentences import normalized, sentences_of
from t2t_phrase.text.in_graph.spellings import TfSpellings
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.visible import BLANKS
from t2t_phrase.text.in_graph.words import TfWords

# More entries with the same source, and more or longer forbidden phrases, are ignored: the search
# would take time and memory for each of them.
MOST_ALTERNATIVES = 16
MOST_FORBIDDEN = 256
MOST_FORBIDDEN_BYTES = 256


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

    Lines that are not entries are left out, and so are phrases with too many words, targets with
    unknown tokens or too many, and what exceeds the numbers above.

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
    index = index_of(entries.keys, lengths)
    chosen, _ = longest_first(sentences, index)  # (B, M)
    keys = tf.gather(entries.keys, tf.maximum(chosen, 0), batch_dims=1)
    sizes = tf.reduce_sum(tf.cast(entries.targets > 0, tf.int32), axis=-1)
    least = _shortest(index, tf.gather(sizes, index.order, batch_dims=1), keys)
    needed = tf.cumsum(tf.where(chosen >= 0, least, 0), axis=1)
    room = (chosen >= 0) & (needed < limits[:, None])
    banning = occurring(sentences, entries.keys, tf.where(is_ban, entries.lengths, 0))
    bans = is_ban & ((entries.lengths == 0) | banning)
    # Without words, there is no translation.
    bans &= (normalized(texts) != "")[:, None]
    # The search takes time for every row, so those that no sentence has room for are left out.
    rows = tf.maximum(tf.reduce_max(tf.reduce_sum(tf.cast(room, tf.int32), axis=1)), 1)
    room, keys = room[:, :rows], keys[:, :rows]
    terms = _alternatives(index, entries.targets, keys, room)
    return GraphTerms(
        tf.where(room[..., None, None], terms, 0),
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
    needed = tf.cast(every.row_lengths(), tf.int32) + tf.cast(whole, tf.int32) + 1
    # Spelling a word that there is no room for would only take time.
    last = tf.where(needed <= limits, last, " ")
    ranges, edges = spellings.ranks(last), spellings.edges(last)
    partial = edges[..., 1] < tf.strings.length(last)[:, None]
    # Where a part ends with the word, the place of its end is 0.
    wholes = tf.where(partial[..., None], 0, edges * [1, 0, 1])
    parts = tf.where(partial[..., None], edges, 0)
    if isinstance(encoder, TfWords):
        # No token can continue a shorter word, because every token begins with a blank.
        parts = tf.zeros_like(parts)
    several = tf.reduce_any(parts[..., 2] > 0, axis=1)
    possible = several | (ranges[:, 0, 1] > ranges[:, 0, 0])
    possible &= can_spell(encoder, ids, before)
    possible &= needed <= limits
    wanted = clean != ""
    here = wanted & possible
    # Where there might be no room for other spellings of the last word, it is forced, too.
    most = tf.cast(ids.row_lengths(), tf.int32) + tf.strings.length(last)
    forced = several & (most >= limits)
    forced &= can_spell(encoder, every, clean)
    before, everything = ids.to_tensor(0), every.to_tensor(0)
    before = tf.pad(before, [(0, 0), (0, tf.shape(everything)[1] - tf.shape(before)[1])])
    tokens = tf.where(here[:, None], tf.where(forced[:, None], everything, before), 0)
    free = (here & ~forced)[:, None, None]
    return GraphPrefixes(
        tf.pad(tokens, [(0, 0), (0, 1)]),
        tf.pad(tf.where(free, parts + wholes, 0), [(0, 0), (0, 1), (0, 0)]),
        tf.where(free, ranges, 0),
        here | ~wanted,
    )


def _shortest(index: PhraseIndex, sizes: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
    """Return (B, M): the fewest tokens of any alternative for each source.

    Args:
        index: the sources.
        sizes: (B, E), the numbers of tokens of the targets, in the order of the index.
        keys: (B, M), those of the sources wanted.
    """
    batch, count = tf.unstack(tf.shape(sizes))
    first = tf.searchsorted(index.keys, index.keys)
    sizes = tf.where(tf.range(count) - first < MOST_ALTERNATIVES, sizes, sizes.dtype.max)
    rows = tf.range(batch)[:, None] * count
    least = tf.math.unsorted_segment_min(sizes, rows + first, batch * count)
    place = tf.minimum(tf.searchsorted(index.keys, keys), count - 1)
    return tf.gather(tf.reshape(least, (batch, count)), place, batch_dims=1)


def _alternatives(
    index: PhraseIndex, targets: tf.Tensor, keys: tf.Tensor, real: tf.Tensor
) -> tf.Tensor:
    """Return (B, M, A, L): the targets of all entries with the same source.

    Args:
        index: the sources.
        targets: (B, E, L).
        keys: (B, M), those of the sources wanted.
        real: (B, M) bool, which of them are; the others have any targets.
    """
    first = tf.searchsorted(index.keys, keys)
    counts = tf.searchsorted(index.keys, keys, side="right") - first
    most = tf.reduce_max(tf.where(real, counts, 1))
    numbers = tf.range(tf.clip_by_value(most, 1, MOST_ALTERNATIVES))
    places = tf.minimum(first[..., None] + numbers, tf.shape(index.keys)[1] - 1)
    own = tf.gather(targets, tf.gather(index.order, places, batch_dims=1), batch_dims=1)
    return tf.where((numbers < counts[..., None])[..., None], own, 0)


def _forbidden_edges(phrases: tf.Tensor, spellings: TfSpellings, first_place: int) -> tf.Tensor:
    """Return (B, G, 3): `decoding.terms.joined_edges` of phrases (B, E); "": none.

    The places and the order of the edges differ, and unreachable edges are not left out.
    """
    short = (phrases != "") & (tf.strings.length(phrases) <= MOST_FORBIDDEN_BYTES)
    phrases = tf.ragged.boolean_mask(phrases, short)[:, :MOST_FORBIDDEN].to_tensor("")
    # There is at least one place.
    phrases = tf.pad(phrases, [(0, 0), (0, 1)], constant_values="")
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
