"""Continuations that meet all required terms: vectorised dynamic beam allocation.

Post and Vilar (2018), with the vectorisation of Hu et al. (2019).

Shapes: B sentences, K beams, M candidates, V vocabulary size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.dealing import deal
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import forbid_early_end, likeliest_allowed
from t2t_phrase.decoding.search.required_terms import (
    TERM,
    Progress,
    advance,
    next_tokens,
    sizes_of,
    start_progress,
    tokens_left,
)
from t2t_phrase.decoding.search.token_masks import padded_table
from t2t_phrase.ops.rows import take_rows
from t2t_phrase.special_ids import EOS_ID

NEVER = -float("inf")


class Constraints(NamedTuple):
    """The terms that translations must have, and the room for them.

    Attributes:
        terms: see `required_terms.TERMS`.
        begins_word: of `VocabularyTables`.
        limits: (B,) int32, the longest outputs, EOS included.
    """

    terms: Any
    begins_word: Any
    limits: Any


class Allowed(NamedTuple):
    """Limits on the next tokens, apart from required terms.

    Attributes:
        forced: (B, K) int32, see `BatchDecoder.forced`, or None.
        barred: (B, K, V) bool, see `BatchDecoder.barred`, or None.
        busy: (B, K) bool, see `BatchDecoder.busy`, or None.
    """

    forced: Any = None
    barred: Any = None
    busy: Any = None


def constrained_expansion(
    decoder: BatchDecoder, constraints: Constraints, beam_size: int, *, min_length: int = 0
) -> Expansion:
    """Continue hypotheses so that every translation has all required terms.

    Candidates are the 2K likeliest tokens of each hypothesis, and the tokens that begin its unmet
    terms or go on with them. The bank of a candidate is the number of tokens of terms that it has;
    2K are chosen from the banks in turn, see `deal`, and the first K of these that have not ended
    go on. EOS may only follow once all terms are met, and what would leave too few tokens for the
    others is no candidate. Where nothing is required, the result is that of `plain_expansion`.

    Differs from the papers: they limit the shares of banks and prune; here each bank has what its
    turn gives it. A term counts only as whole words.

    Args:
        decoder: of a batch; what it forces and bars holds.
        constraints: of the batch.
        beam_size: K.
        min_length: fewest tokens before EOS.
    """
    terms = constraints.terms

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, inner, _ = decoder.step(alive.tokens, index, cache["decoder"])
        logits = forbid_early_end(ops.cast(logits, "float32"), index, min_length)
        vocab = logits.shape[-1]
        begins = padded_table(constraints.begins_word, vocab, False)
        progress = advance(
            terms,
            Progress(*cache["progress"]),
            alive.tokens,
            ops.take(begins, alive.tokens, axis=0),
        )
        allowed = Allowed(
            decoder.forced_tokens(inner),
            decoder.barred_tokens(inner, vocab),
            decoder.is_busy(inner),
        )
        room = (constraints.limits - index)[:, None]  # for this token and what comes after it
        found = best_constrained(
            logits, alive.log_probs, Constraints(terms, begins, room), progress, allowed
        )
        notes = {
            name: ops.take_along_axis(values, found.parents, axis=1)
            for name, values in decoder.notes(inner).items()
        }
        candidates = found._replace(notes={**notes, **found.notes})
        if decoder.penalties is not None:
            penalties = decoder.penalties(inner)
            candidates = candidates._replace(
                penalties=ops.take_along_axis(penalties, found.parents, axis=1)
            )
        return candidates, {"decoder": inner, "progress": tuple(progress)}

    def reorder(cache: Any, parents: Any) -> Any:
        return {
            "decoder": decoder.reorder(cache["decoder"], parents),
            "progress": tuple(Progress(*cache["progress"]).of(parents)),
        }

    start = {"decoder": decoder.cache, "progress": tuple(start_progress(terms, beam_size))}
    return Expansion(expand, start, reorder, {**decoder.pads, TERM: 0})


def best_constrained(
    logits: Any, log_probs: Any, constraints: Constraints, progress: Progress, allowed: Allowed
) -> Candidates:
    """Return the 2K candidates that are chosen from the banks in turn.

    Args:
        logits: (B, K, V) float32.
        log_probs: (B, K) of the hypotheses.
        constraints: of the batch; its `limits` are (B, 1), the tokens that are left.
        progress: of the hypotheses.
        allowed: what may follow.
    """
    terms, begins_word, room = constraints
    beams, vocab = logits.shape[1:]
    left = tokens_left(terms, progress)  # (B, K)
    is_end = ops.logical_and(ops.arange(vocab) == EOS_ID, (left > 0)[..., None])
    barred = is_end if allowed.barred is None else ops.logical_or(is_end, allowed.barred)
    each = min(2 * beams, vocab)
    top, tokens, normalizer = likeliest_allowed(logits, each, allowed.forced, barred)
    own_tokens, own = term_tokens(logits, terms, progress, allowed._replace(barred=barred), room)
    known = ops.logical_and(own_tokens[..., None] == tokens[:, :, None], top[:, :, None] > NEVER)
    own = ops.where(ops.any(known, axis=-1), NEVER, own)
    scores = ops.concatenate([top, own], axis=-1) - normalizer[..., None] + log_probs[..., None]
    tokens = ops.concatenate([tokens, own_tokens], axis=-1)
    width = tokens.shape[-1]
    scores, tokens = (ops.reshape(x, (-1, beams * width)) for x in (scores, tokens))
    parents = ops.repeat(ops.arange(beams, dtype="int32"), width)
    parents = ops.broadcast_to(parents, ops.shape(tokens))
    after = advance(terms, progress.of(parents), tokens, ops.take(begins_word, tokens, axis=0))
    still = tokens_left(terms, after)
    # One of the tokens that are left is this one, and one is EOS.
    fits = ops.logical_or(still == 0, still + 2 <= room)
    fits = ops.logical_or(fits, still < take_rows(left, parents))
    if allowed.busy is not None:
        fits = ops.logical_or(fits, take_rows(allowed.busy, parents))
    scores = ops.where(fits, scores, NEVER)
    total = ops.sum(sizes_of(terms), axis=-1)[:, None]
    chosen = deal(
        scores,
        total - still,
        number_of_banks=terms.shape[1] * terms.shape[3] + 1,
        count=2 * beams,
    )
    scores, parents, tokens, completed = (
        ops.take_along_axis(x, chosen, axis=1) for x in (scores, parents, tokens, after.last)
    )
    ended = tokens == EOS_ID
    going_on = ops.cumsum(ops.cast(ops.logical_not(ended), "int32"), axis=1) <= beams
    scores = ops.where(ops.logical_or(ended, going_on), scores, NEVER)
    return Candidates(scores, parents, tokens, ended, {TERM: completed})


def term_tokens(
    logits: Any, terms: Any, progress: Progress, allowed: Allowed, room: Any
) -> tuple[Any, Any]:
    """Return the tokens of unmet terms that may follow, and their logits, each (B, K, N).

    Where only tokens of terms leave room for the others, no phrase is forbidden.

    Args:
        logits: (B, K, V) float32.
        terms: of the batch.
        progress: of the hypotheses.
        allowed: what may follow.
        room: (B, 1) int32, the tokens that are left.
    """
    tokens = next_tokens(terms, progress)
    shape = ops.shape(tokens)
    vocab = logits.shape[-1]

    def of_tokens(table: Any) -> Any:
        rows = ops.reshape(table, (-1, vocab))
        return ops.reshape(take_rows(rows, ops.reshape(tokens, (-1, shape[-1]))), shape)

    possible = tokens > 0
    # The same token may begin several terms.
    earlier = ops.arange(shape[-1])[:, None] > ops.arange(shape[-1])
    same = tokens[..., None] == tokens[:, :, None]
    possible = ops.logical_and(
        possible, ops.logical_not(ops.any(ops.logical_and(same, earlier), axis=-1))
    )
    barred = of_tokens(allowed.barred)
    urgent = tokens_left(terms, progress) + 1 >= room
    if allowed.busy is not None:
        urgent = ops.logical_and(urgent, ops.logical_not(allowed.busy))
    possible = ops.logical_and(possible, ops.logical_or(ops.logical_not(barred), urgent[..., None]))
    if allowed.forced is not None:
        possible = ops.logical_and(possible, (allowed.forced < 0)[..., None])
    return tokens, ops.where(possible, of_tokens(logits), NEVER)
