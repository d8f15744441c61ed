"""Diverse beam search: groups of beams that avoid each other's tokens.

Shapes: B sentences, G groups, K beams of all groups together, V vocabulary size, L longest output.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import (
    candidates_of,
    forbid_early_end,
    only_forced,
)
from t2t_phrase.ops.likeliest import likeliest
from t2t_phrase.ops.rows import take_rows
from t2t_phrase.special_ids import EOS_ID, PAD_ID

NEVER = -float("inf")


def diverse_expansion(
    decoder: BatchDecoder, *, beam_size: int, groups: int, strength: float, min_length: int = 0
) -> Expansion:
    """Continue hypotheses in groups, for a search of B * G sentences with K / G beams.

    Vijayakumar et al. (2018), Algorithm 1, with Hamming diversity. In every step, the groups choose
    one after the other. A group chooses its K / G best continuations by

        log p(y_1, ..., y_t | x) - strength c(y_t)

    where c(y_t) counts the chosen continuations of earlier groups that end in y_t. A hypothesis
    keeps its log-probability, so the scores of all groups can be compared. As in `plain_expansion`,
    hypotheses that end leave room for others that continue. A group whose result is certain no
    longer counts.

    Args:
        decoder: of a batch, with K beams.
        beam_size: K, a multiple of G.
        groups: G.
        strength: of the diversity.
        min_length: fewest tokens before EOS.
    """
    own = beam_size // groups

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        def together(x: Any) -> Any:
            return ops.reshape(x, (-1, beam_size))

        logits, cache, _ = decoder.step(together(alive.tokens), index, cache)
        logits = forbid_early_end(ops.cast(logits, "float32"), index, min_length)
        forced, before = decoder.forced_tokens(cache), together(alive.log_probs)
        barred = decoder.barred_tokens(cache, logits.shape[-1])
        allowed = logits if barred is None else ops.where(barred, NEVER, logits)
        normalizer = ops.logsumexp(logits, axis=-1)
        searching = ops.reshape(ops.logical_not(alive.done), (-1, groups))
        taken = ops.zeros_like(logits[:, 0])  # (B, V)
        chosen = []
        for group in range(groups):
            beams = slice(group * own, (group + 1) * own)
            found = _best(
                allowed[:, beams] - strength * taken[:, None],
                logits[:, beams],
                before[:, beams] - normalizer[:, beams],
                None if forced is None else forced[:, beams],
            )
            chosen.append((found[0], found[1] + group * own, found[2]))
            counted = ops.logical_and(found[0][:, :own] > NEVER, searching[:, group, None])
            tokens = ops.one_hot(found[2][:, :own], logits.shape[-1], dtype=logits.dtype)
            taken += ops.sum(tokens * ops.cast(counted, logits.dtype)[..., None], axis=1)
        # All candidates of a sentence, group by group, (B, 2K).
        log_probs, parents, tokens = (
            ops.concatenate(parts, axis=1) for parts in zip(*chosen, strict=True)
        )
        every = candidates_of(decoder, cache, log_probs, parents, tokens)
        return _by_group(every._replace(parents=parents % own), groups), cache

    def reorder(cache: Any, parents: Any) -> Any:
        first = ops.repeat(ops.arange(groups, dtype="int32") * own, own)
        return decoder.reorder(cache, ops.reshape(parents, (-1, beam_size)) + first)

    return Expansion(expand, decoder.cache, reorder, decoder.pads)


def _best(lowered: Any, logits: Any, before: Any, forced: Any | None) -> tuple[Any, Any, Any]:
    """Return (log-probabilities, parents, tokens) of a group's continuations, each (B, 2K / G).

    The best come first. Of those that do not end, all but the K / G best are excluded, because a
    search would choose among them by log-probabilities that are not lowered.

    Args:
        lowered: (B, K / G, V), by which continuations are chosen.
        logits: (B, K / G, V), the model's.
        before: (B, K / G), added to logits.
        forced: (B, K / G) int32, see `BatchDecoder`; None: nothing is forced.
    """
    own, vocab = logits.shape[1:]
    each = min(2 * own, vocab)
    top, tokens, _ = likeliest(lowered, each)
    if forced is not None:
        top, tokens = only_forced(top, tokens, logits, forced)
    real = take_rows(ops.reshape(logits, (-1, vocab)), ops.reshape(tokens, (-1, each)))
    real = ops.where(top > NEVER, ops.reshape(real, ops.shape(top)), NEVER) + before[..., None]
    flat = (-1, own * each)
    _, chosen = ops.top_k(ops.reshape(top + before[..., None], flat), 2 * own)
    tokens = ops.cast(ops.take_along_axis(ops.reshape(tokens, flat), chosen, axis=1), "int32")
    log_probs = ops.take_along_axis(ops.reshape(real, flat), chosen, axis=1)
    going = ops.not_equal(tokens, EOS_ID)
    rank = ops.cumsum(ops.cast(going, "int32"), axis=1)
    log_probs = ops.where(ops.logical_and(going, rank > own), NEVER, log_probs)
    return log_probs, ops.cast(chosen // each, "int32"), tokens


def _by_group(values: Any, groups: int) -> Any:
    """Return nested tensors (B * G, C / G, ...) from those of all groups, (B, C, ...)."""

    def split(x: Any) -> Any:
        count = x.shape[1] // groups
        return ops.reshape(x, (-1, count, *ops.shape(x)[2:]))

    return keras.tree.map_structure(lambda x: x if x is None else split(x), values)


def join_groups(found: Hypotheses, groups: int) -> Hypotheses:
    """Return the hypotheses of all groups, best first.

    As in `beam_search`, hypotheses that have not ended are left out if another one of the sentence
    has ended, and a sentence without tokens has one result.

    Args:
        found: of B * G sentences with K / G beams.
        groups: G.
    """

    def join(x: Any) -> Any:
        return ops.reshape(x, (-1, x.shape[1] * groups, *ops.shape(x)[2:]))

    joined = keras.tree.map_structure(join, found)
    ended = ops.any(ops.equal(joined.ids, EOS_ID), axis=-1)  # (B, K)
    replaced = ops.logical_and(ops.any(ended, axis=1, keepdims=True), ops.logical_not(ended))
    empty = ops.all(joined.ids == PAD_ID, axis=-1)
    replaced = ops.logical_or(replaced, ops.logical_and(empty, ops.arange(empty.shape[1]) > 0))
    scores = ops.where(replaced, WORST, joined.scores)
    scores, order = ops.top_k(scores, scores.shape[1])
    order = ops.cast(order, "int32")
    ids, notes = keras.tree.map_structure(lambda x: take_rows(x, order), (joined.ids, joined.notes))
    return Hypotheses(ids, scores, notes)
