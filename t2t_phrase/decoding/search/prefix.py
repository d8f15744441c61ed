"""A decoder that begins every translation with a given text, which may end within a word.

The words of the text before the last one are tokens, which are forced. The translation may continue
the last word, so its tokens are unknown: all tokens are allowed that together spell the word or a
text that begins with it.

Shapes: B sentences, K beams, V vocabulary size, P tokens, G edges, Q places in the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.token_masks import padded_table, tokens_mask
from t2t_phrase.models.base import Step

# The names of the parts among the features of a batch; the first is tensor2tensor's.
TOKENS, EDGES, RANGES = "partial_targets", "partial_word_edges", "partial_word_ranges"


class Prefix(NamedTuple):
    """The beginning of each translation.

    Attributes:
        tokens: (B, P) int32, the tokens before the last word, then 0.
        edges: (B, G, 3) int32, the tokens that spell a part of the last word: the places in the
            word where the part begins and ends, and the token; 0 where there is none. Where the
            part ends with the word, the second place is 0.
        ranges: (B, Q, 2) int32, the tokens that spell the rest of the last word from each place, or
            more than that: the lowest of their ranks, see `VocabularyTables`, and the rank after
            the highest. All are 0 for a sentence without a last word.
    """

    tokens: Any
    edges: Any
    ranges: Any


def prefix_of(features: Mapping[str, Any]) -> Prefix | None:
    """Return the beginnings among the features of a batch; None: there are none."""
    if TOKENS not in features:
        return None
    return Prefix(features[TOKENS], features[EDGES], features[RANGES])


def start_places(prefix: Prefix, beam_size: int) -> Any:
    """Return (B, K) int32: the places of hypotheses in the last word; Q if there is none."""
    batch, count, _ = ops.shape(prefix.ranges)
    wanted = ops.any(prefix.ranges > 0, axis=(1, 2))
    return ops.broadcast_to(
        ops.cast(ops.where(wanted, 0, count), "int32")[:, None], (batch, beam_size)
    )


def next_places(prefix: Prefix, places: Any, tokens: Any, index: Any) -> Any:
    """Return (B, K) int32: the places of hypotheses in the last word after one more token.

    Args:
        prefix: of the batch.
        places: (B, K) int32, their places before that token.
        tokens: (B, K) int32, the last token of each.
        index: number of tokens, this one included.
    """
    count = ops.shape(prefix.ranges)[1]
    starts, ends, spelling = (prefix.edges[:, None, :, part] for part in range(3))
    taken = ops.logical_and(starts == places[..., None], spelling == tokens[..., None])
    taken = ops.logical_and(taken, spelling > 0)
    after = ops.max(ops.where(taken, ends, 0), axis=-1)
    after = ops.where(after > 0, after, count)
    return ops.where(index > _lengths(prefix)[:, None], after, places)


def forced_by_prefix(prefix: Prefix, index: Any) -> Any:
    """Return (B,) int32: the token that must come at a time; -1 where any may."""
    last = ops.shape(prefix.tokens)[1] - 1
    now = ops.take(prefix.tokens, ops.minimum(index, last), axis=1)
    return ops.where(index < _lengths(prefix), now, -1)


def is_open(prefix: Prefix, places: Any, index: Any) -> Any:
    """Return (B, K) bool: whether the next token spells a part of the last word."""
    begun = index >= _lengths(prefix)[:, None]
    return ops.logical_and(begun, places < ops.shape(prefix.ranges)[1])


def barred_by_prefix(prefix: Prefix, places: Any, index: Any, ranks: Any, vocab_size: int) -> Any:
    """Return (B, K, V) bool: the tokens that do not spell a part of the last word where they must.

    Args:
        prefix: of the batch.
        places: (B, K) int32, the places of hypotheses in the last word.
        index: the time.
        ranks: of `VocabularyTables`.
        vocab_size: V.
    """
    count = ops.shape(prefix.ranges)[1]
    here = ops.take_along_axis(
        prefix.ranges, ops.minimum(places, count - 1)[..., None], axis=1
    )  # (B, K, 2)
    ranks = padded_table(ranks, vocab_size, -1)
    allowed = ops.logical_and(ranks >= here[..., :1], ranks < here[..., 1:])
    allowed = ops.logical_or(allowed, _parts(prefix, places, vocab_size))
    waits = is_open(prefix, places, index)
    return ops.logical_and(waits[..., None], ops.logical_not(allowed))


def given_by_prefix(prefix: Prefix, places: Any, index: Any, vocab_size: int) -> Any:
    """Return (B, K, V) bool: the tokens that spell nothing beyond the beginning.

    Args:
        prefix: of the batch.
        places: (B, K) int32, the places of hypotheses in the last word.
        index: the time.
        vocab_size: V.
    """
    parts = _parts(prefix, places, vocab_size)
    parts = ops.logical_and(parts, is_open(prefix, places, index)[..., None])
    forced = forced_by_prefix(prefix, index)[:, None, None]
    return ops.logical_or(parts, ops.arange(vocab_size) == forced)


def prefix_decoder(
    decoder: BatchDecoder, prefix: Prefix, ranks: Any, beam_size: int
) -> BatchDecoder:
    """Return a decoder whose outputs begin as given.

    The tokens keep the probability that they have among all tokens, so a score is that of the whole
    translation.

    Args:
        decoder: any that forces and bars no tokens.
        prefix: of the batch.
        ranks: of `VocabularyTables`.
        beam_size: K.
    """

    def step(ids: Any, index: Any, cache: Any) -> Step:
        logits, inner, weights = decoder.step(ids, index, cache["decoder"])
        places = next_places(prefix, cache["places"], ids, index)
        return Step(logits, {"decoder": inner, "places": places, "time": index}, weights)

    def reorder(cache: Any, parents: Any) -> Any:
        return {
            **cache,
            "decoder": decoder.reorder(cache["decoder"], parents),
            "places": ops.take_along_axis(cache["places"], parents, axis=1),
        }

    def forced(cache: Any) -> Any:
        token = forced_by_prefix(prefix, cache["time"])[:, None]
        return ops.broadcast_to(token, ops.shape(cache["places"]))

    def barred(cache: Any, vocab_size: int) -> Any:
        return barred_by_prefix(prefix, cache["places"], cache["time"], ranks, vocab_size)

    def given(cache: Any, vocab_size: int) -> Any:
        return given_by_prefix(prefix, cache["places"], cache["time"], vocab_size)

    def busy(cache: Any) -> Any:
        waits = is_open(prefix, cache["places"], cache["time"])
        return ops.logical_or(forced(cache) >= 0, waits)

    start = {
        "decoder": decoder.cache,
        "places": start_places(prefix, beam_size),
        "time": ops.zeros((), "int32"),
    }
    return decoder._replace(
        step=step,
        cache=start,
        reorder=reorder,
        notes=lambda cache: decoder.notes(cache["decoder"]),
        forced=forced,
        barred=barred,
        busy=busy,
        given=given,
    )


def _parts(prefix: Prefix, places: Any, vocab_size: int) -> Any:
    """Return (B, K, V) bool: the tokens that spell a part of the last word from each place."""
    starts, spelling = prefix.edges[:, None, :, 0], prefix.edges[:, :, 2]
    chosen = ops.logical_and(starts == places[..., None], spelling[:, None] > 0)
    return tokens_mask(spelling, chosen, vocab_size)


def _lengths(prefix: Prefix) -> Any:
    return ops.sum(ops.cast(prefix.tokens > 0, "int32"), axis=1)
