"""A decoder that must translate some source phrases as in a dictionary.

Alkhouli et al. (2018), Section 7: where the source position that the next token attends to most
begins a phrase of the dictionary, all tokens but the suggested one have an infinite cost.

Shapes: B sentences, S source length, K beams, E entries of a sentence, L tokens of an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder, of_inner
from t2t_phrase.models.base import Step

# The names of the entries among the features of a batch.
STARTS, TOKENS = "dictionary_starts", "dictionary_tokens"
# The note with the number of the entry, from 1, whose translation begins with a token; else 0.
ENTRY = "dictionary_entry"


class Entries(NamedTuple):
    """The phrases of each sentence that a dictionary has a translation for.

    Attributes:
        starts: (B, S) int32, the number of the entry, from 1, at the positions that begin a phrase,
            which may be several; 0 elsewhere.
        tokens: (B, E, L) int32, the translation of each, one token at least; 0 after its end.
    """

    starts: Any
    tokens: Any


class Forcing(NamedTuple):
    """The progress of each hypothesis through the entries.

    Attributes:
        entry: (B, K) int32, the number of the entry whose translation is in progress; 0: none.
        place: (B, K) int32, the place of its next token.
        used: (B, K, E) bool, the entries that have begun.
    """

    entry: Any
    place: Any
    used: Any


def start_forcing(entries: Entries, beam_size: int) -> Forcing:
    """Return the state before the first token."""
    batch_size, count, _ = ops.shape(entries.tokens)
    none = ops.zeros((batch_size, beam_size), "int32")
    return Forcing(none, none, ops.zeros((batch_size, beam_size, count), "bool"))


def force_entries(
    entries: Entries, state: Forcing, positions: Any, busy: Any | None = None
) -> tuple[Any, Any, Forcing]:
    """Return the tokens that the entries force now, (B, K) int32 each, and the next state.

    An entry begins if no other is in progress and it has not yet been used in the hypothesis.

    Differs from the paper, where an entry begins whenever its word is aligned with: attention that
    returns to a word would repeat its translation.

    Args:
        entries: of the batch.
        state: before the token.
        positions: (B, K) int32, the source position that the token is aligned with.
        busy: (B, K) bool, where no entry may begin; None: entries may begin everywhere.

    Returns:
        (tokens, begun, state): the token that must come next, -1 where any may; the number of the
        entry that begins with it, 0 where none does.
    """
    _, count, length = ops.shape(entries.tokens)
    here = ops.take_along_axis(entries.starts, positions, axis=1)  # (B, K)
    numbers = ops.arange(1, count + 1, dtype="int32")
    is_here = ops.equal(here[..., None], numbers)  # (B, K, E)
    unused = ops.any(ops.logical_and(is_here, ops.logical_not(state.used)), axis=-1)
    begins = ops.logical_and(state.entry == 0, unused)
    if busy is not None:
        begins = ops.logical_and(begins, ops.logical_not(busy))
    entry = ops.where(begins, here, state.entry)
    going_on = entry > 0
    flat = ops.reshape(entries.tokens, (-1, count * length))
    index = ops.maximum(entry - 1, 0) * length + state.place
    token = ops.take_along_axis(flat, index, axis=1)
    # The next token of the entry; 0 at its last place.
    following = ops.pad(entries.tokens[:, :, 1:], [(0, 0), (0, 0), (0, 1)])
    following = ops.take_along_axis(ops.reshape(following, (-1, count * length)), index, axis=1)
    more = ops.logical_and(going_on, following > 0)
    after = Forcing(
        ops.where(more, entry, 0),
        ops.where(more, state.place + 1, 0),
        ops.logical_or(state.used, ops.logical_and(is_here, begins[..., None])),
    )
    return ops.where(going_on, token, -1), ops.where(begins, here, 0), after


def guided_decoder(decoder: BatchDecoder, entries: Entries, beam_size: int) -> BatchDecoder:
    """Return a decoder that forces the translations of entries, and notes these entries.

    Forced tokens keep the probability that they have among all tokens.

    Args:
        decoder: one that notes POSITION.
        entries: of the batch.
        beam_size: K.
    """
    state = start_forcing(entries, beam_size)
    nothing = ops.zeros_like(state.entry)

    def step(ids: Any, index: Any, cache: Any) -> Step:
        logits, inner, weights = decoder.step(ids, index, cache["decoder"])
        positions = decoder.notes(inner)[POSITION]
        # Only the forced token can have followed, so the state need not depend on the last token.
        forced, begun, after = force_entries(
            entries, Forcing(*cache["state"]), positions, decoder.is_busy(inner)
        )
        given = decoder.forced_tokens(inner)
        if given is not None:
            forced = ops.where(given >= 0, given, forced)
        return Step(
            logits,
            {"decoder": inner, "state": tuple(after), "forced": forced, ENTRY: begun},
            weights,
        )

    def reorder(cache: Any, parents: Any) -> Any:
        def pick(x: Any) -> Any:
            chosen = parents if len(x.shape) == 2 else parents[..., None]
            return ops.take_along_axis(x, chosen, axis=1)

        return {
            **cache,
            "decoder": decoder.reorder(cache["decoder"], parents),
            "state": keras.tree.map_structure(pick, cache["state"]),
        }

    def notes(cache: Any) -> dict[str, Any]:
        return {**decoder.notes(cache["decoder"]), ENTRY: cache[ENTRY]}

    start = {"decoder": decoder.cache, "state": tuple(state), "forced": nothing, ENTRY: nothing}
    pads = {**decoder.pads, ENTRY: 0}
    return BatchDecoder(
        step,
        start,
        reorder,
        notes,
        pads,
        forced=lambda cache: cache["forced"],
        barred=of_inner(decoder.barred),
        busy=of_inner(decoder.busy),
        given=of_inner(decoder.given),
    )


def entries_of(features: Mapping[str, Any]) -> Entries | None:
    """Return the entries among the features of a batch; None: there are none."""
    if STARTS not in features:
        return None
    return Entries(features[STARTS], features[TOKENS])
