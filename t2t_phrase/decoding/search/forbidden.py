"""A decoder that never writes certain phrases, by whatever tokens.

Shapes: B sentences, K beams, V vocabulary size, G edges.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder, of_inner
from t2t_phrase.decoding.search.token_masks import looked_up, tokens_mask
from t2t_phrase.models.base import Step

# The name, among the features of a batch, of the ways to spell the phrases, (B, G, 3) int32: a
# place in a phrase, the place after a token, and the token. Places are numbered through all
# phrases; at ANYWHERE and WORD_BEGINS, any phrase may begin; at END, one would be complete. Edges
# without a token are padding.
EDGES = "forbidden_edges"
ANYWHERE, WORD_BEGINS, END, FIRST_PLACE = 0, 1, 2, 3


def next_phrases(edges: Any, inside: Any, tokens: Any, ends_word: Any) -> Any:
    """Return the places of hypotheses in the phrases after one more token.

    Args:
        edges: see EDGES.
        inside: (B, K, G + FIRST_PLACE) bool, the places of each before that token.
        tokens: (B, K) int32, the last token of each.
        ends_word: (B, K) bool, whether a word may begin after it.
    """
    batch, beams, places = ops.shape(inside)
    ends, spelling = edges[:, None, :, 1], edges[:, None, :, 2]
    taken = ops.logical_and(usable(edges, inside), spelling == tokens[..., None])
    rows = ops.reshape(ops.arange(batch * beams, dtype="int32"), (batch, beams, 1))
    counts = ops.scatter(
        ops.reshape(rows * places + ends, (-1, 1)),
        ops.reshape(ops.cast(taken, "int32"), (-1,)),
        (batch * beams * places,),
    )
    after = ops.reshape(counts > 0, (batch, beams, places))
    place = ops.arange(places, dtype="int32")
    begins = ops.logical_and(place == WORD_BEGINS, ends_word[..., None])
    return ops.logical_or(after, ops.logical_or(place == ANYWHERE, begins))


def usable(edges: Any, inside: Any) -> Any:
    """Return (B, K, G) bool: the edges that start at the places of each hypothesis."""
    batch, beams, _ = ops.shape(inside)
    starts = ops.broadcast_to(edges[:, None, :, 0], (batch, beams, ops.shape(edges)[1]))
    here = ops.take_along_axis(inside, starts, axis=2)
    return ops.logical_and(here, edges[:, None, :, 2] > 0)


def barred_by_phrases(edges: Any, inside: Any, vocab_size: int) -> Any:
    """Return (B, K, V) bool: the tokens that would complete a phrase."""
    complete = ops.logical_and(usable(edges, inside), edges[:, None, :, 1] == END)
    return tokens_mask(edges[:, :, 2], complete, vocab_size)


def start_phrases(edges: Any, beam_size: int) -> Any:
    """Return the places before the first token: any phrase may begin."""
    batch, count, _ = ops.shape(edges)
    place = ops.arange(count + FIRST_PLACE, dtype="int32")
    begins = ops.logical_or(place == ANYWHERE, place == WORD_BEGINS)
    return ops.broadcast_to(begins, (batch, beam_size, count + FIRST_PLACE))


def forbidding_decoder(
    decoder: BatchDecoder, edges: Any, ends_word: Any, beam_size: int
) -> BatchDecoder:
    """Return a decoder whose outputs have none of the phrases.

    A phrase is barred at its last token, so words that are spelt with the same tokens and more are
    barred as well. The other tokens keep the probability that they have among all. The given
    beginning of an output is not restricted, see `BatchDecoder.also_barred`.

    Args:
        decoder: any.
        edges: see EDGES.
        ends_word: of `VocabularyTables`.
        beam_size: K.
    """

    def step(ids: Any, index: Any, cache: Any) -> Step:
        logits, inner, weights = decoder.step(ids, index, cache["decoder"])
        inside = next_phrases(edges, cache["inside"], ids, looked_up(ends_word, ids))
        return Step(logits, {"decoder": inner, "inside": inside}, weights)

    def reorder(cache: Any, parents: Any) -> Any:
        return {
            "decoder": decoder.reorder(cache["decoder"], parents),
            "inside": ops.take_along_axis(cache["inside"], parents[..., None], axis=1),
        }

    def barred(cache: Any, vocab_size: int) -> Any:
        own = barred_by_phrases(edges, cache["inside"], vocab_size)
        return decoder.also_barred(cache["decoder"], own)

    start = {"decoder": decoder.cache, "inside": start_phrases(edges, beam_size)}
    return decoder._replace(
        step=step,
        cache=start,
        reorder=reorder,
        notes=lambda cache: decoder.notes(cache["decoder"]),
        forced=of_inner(decoder.forced),
        barred=barred,
        busy=of_inner(decoder.busy),
        given=of_inner(decoder.given),
    )
