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
from t2t_phrase.decoding.search.plain_expansion import (
    candidates_of,
    forbid_early_end,
    likeliest_allowed,
)
from t2t_phrase.decoding.search.required_terms import (
    TERM,
    Progress,
    advance,
    next_tokens,
    sizes_of,
    start_progress,
    tokens_left,
)
from t2t_phrase.decoding.search.token_masks import looked_up
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

    def at(self, index: Any) -> Constraints:
        """Return these with limits (B, 1): the room left at a time, the next token included."""
        return self._replace(limits=(self.limits - index)[:, None])


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

    Candidates are the 2K likeliest tokens of each hypothesis, and the tokens that begin or continue
    its unmet terms. The bank of a candidate is the number of term tokens that it contains; 2K
    candidates are chosen, half a beam by their scores and the others from the banks in turn, see
    `deal`, and the first K of these that have not ended continue. EOS may only follow once all
    terms are met, and a token that would leave too few tokens for the other terms is not a
    candidate. Where nothing is required, the result is that of `plain_expansion`.

    Differs from the papers: nothing is pruned, and a term counts only as whole words.

    Args:
        decoder: of a batch; its forced and barred tokens are respected.
        constraints: of the batch.
        beam_size: K.
        min_length: fewest tokens before EOS.
    """
    terms = constraints.terms

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, inner, _ = decoder.step(alive.tokens, index, cache["decoder"])
        logits = forbid_early_end(ops.cast(logits, "float32"), index, min_length)
        vocab = logits.shape[-1]
        begins = looked_up(constraints.begins_word, alive.tokens)
        progress = advance(terms, Progress(*cache["progress"]), alive.tokens, begins)
        allowed = Allowed(
            decoder.forced_tokens(inner),
            decoder.barred_tokens(inner, vocab),
            decoder.is_busy(inner),
        )
        now = constraints.at(index)
        found = best_constrained(logits, alive.log_probs, now, progress, allowed)
        every = candidates_of(decoder, inner, found.log_probs, found.parents, found.tokens)
        candidates = every._replace(notes={**every.notes, **found.notes})
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
        allowed: limits on the next tokens.
    """
    terms, room = constraints.terms, constraints.limits
    beams, vocab = logits.shape[1:]
    allowed = without_early_end(allowed, terms, progress, vocab)
    each = min(2 * beams, vocab)
    top, tokens, normalizer = likeliest_allowed(logits, each, allowed.forced, allowed.barred)
    own = term_tokens(terms, progress, allowed, room)
    top, tokens = with_own(top, tokens, own.tokens, own.of(logits))
    # EOS, too: after a term that is completed near the limit, none of the others may be possible.
    ends = ops.full_like(tokens[..., :1], EOS_ID)
    top, tokens = with_own(top, tokens, ends, end_logits(logits, allowed))
    scores = top - normalizer[..., None] + log_probs[..., None]
    width = ops.shape(tokens)[-1]
    scores, tokens = (ops.reshape(x, (-1, beams * width)) for x in (scores, tokens))
    parents = ops.repeat(ops.arange(beams, dtype="int32"), width)
    parents = ops.broadcast_to(parents, ops.shape(tokens))
    banks, completed = banks_of(constraints, progress, allowed.busy, parents, tokens)
    scores = ops.where(banks < 0, NEVER, scores)
    chosen = deal(
        scores,
        banks,
        number_of_banks=number_of_banks(terms),
        count=2 * beams,
        by_score=beams // 2,
    )
    scores, parents, tokens, completed = (
        ops.take_along_axis(x, chosen, axis=1) for x in (scores, parents, tokens, completed)
    )
    ended = tokens == EOS_ID
    going_on = ops.cumsum(ops.cast(ops.logical_not(ended), "int32"), axis=1) <= beams
    scores = ops.where(ops.logical_or(ended, going_on), scores, NEVER)
    return Candidates(scores, parents, tokens, ended, {TERM: completed})


def end_logits(logits: Any, allowed: Allowed) -> Any:
    """Return the logits of EOS, (B, K, 1), -inf where it may not follow."""
    barred = allowed.barred[..., EOS_ID]
    if allowed.forced is not None:
        barred = ops.logical_or(barred, allowed.forced >= 0)
    return ops.where(barred, NEVER, logits[..., EOS_ID])[..., None]


def without_early_end(allowed: Allowed, terms: Any, progress: Progress, vocab_size: int) -> Allowed:
    """Return limits that also bar EOS where terms are missing."""
    missing = tokens_left(terms, progress) > 0
    early = ops.logical_and(ops.arange(vocab_size) == EOS_ID, missing[..., None])
    barred = early if allowed.barred is None else ops.logical_or(early, allowed.barred)
    return allowed._replace(barred=barred)


def number_of_banks(terms: Any) -> Any:
    """Return the number of banks: one more than the maximum number of term tokens."""
    return ops.shape(terms)[1] * ops.shape(terms)[3] + 1


def banks_of(
    constraints: Constraints, progress: Progress, busy: Any, parents: Any, tokens: Any
) -> tuple[Any, Any]:
    """Return the banks of candidates, and the terms that they complete, each (B, M) int32.

    The bank is the number of term tokens that a candidate contains; -1 where it would leave too few
    tokens for the other terms.

    Args:
        constraints: of the batch; its `limits` are (B, 1), the tokens that are left.
        progress: of the hypotheses.
        busy: (B, K) bool, see `BatchDecoder.busy`, or None.
        parents: (B, M) int32, the hypotheses that are continued.
        tokens: (B, M) int32.
    """
    terms, begins_word, room = constraints
    after = advance(terms, progress.of(parents), tokens, looked_up(begins_word, tokens))
    still = tokens_left(terms, after)
    # One of the tokens that are left is this one, and one is EOS.
    fits = ops.logical_or(still == 0, still + 2 <= room)
    before = take_rows(tokens_left(terms, progress), parents)
    fits = ops.logical_or(fits, still < before)
    if busy is not None:
        fits = ops.logical_or(fits, take_rows(busy, parents))
    total = ops.sum(sizes_of(terms), axis=-1)[:, None]
    return ops.where(fits, total - still, -1), after.last


def with_own(top: Any, tokens: Any, own_tokens: Any, own: Any) -> tuple[Any, Any]:
    """Return the logits and ids of the likeliest tokens together with those of terms.

    Args:
        top: (..., C) float32, the logits of the likeliest tokens.
        tokens: (..., C) int32, the likeliest tokens.
        own_tokens: (..., N) int32, the tokens of terms.
        own: (..., N) float32, the logits of terms' tokens; -inf where a token may not follow.
    """
    known = ops.logical_and(
        own_tokens[..., None] == tokens[..., None, :], top[..., None, :] > NEVER
    )
    own = ops.where(ops.any(known, axis=-1), NEVER, own)
    return ops.concatenate([top, own], axis=-1), ops.concatenate([tokens, own_tokens], axis=-1)


class TermTokens(NamedTuple):
    """Tokens that begin or continue unmet terms.

    Attributes:
        tokens: (B, K, N) int32.
        possible: (B, K, N) bool, which of them may follow.
    """

    tokens: Any
    possible: Any

    def of(self, logits: Any) -> Any:
        """Return the tokens' logits (B, K, N), from those of all, (B, K, V); -inf if impossible."""
        return ops.where(self.possible, _of_tokens(logits, self.tokens), NEVER)


def term_tokens(terms: Any, progress: Progress, allowed: Allowed, room: Any) -> TermTokens:
    """Return the tokens of unmet terms that may follow.

    Where only term tokens leave room for the other terms, no phrase is forbidden.

    Args:
        terms: of the batch.
        progress: of the hypotheses.
        allowed: limits on the next tokens, with `barred`.
        room: (B, 1) int32, the tokens that are left.
    """
    tokens = next_tokens(terms, progress)
    # The same token may begin several terms.
    count = ops.shape(tokens)[-1]
    earlier = ops.arange(count)[:, None] > ops.arange(count)
    same = ops.logical_and(tokens[..., None] == tokens[:, :, None], earlier)
    possible = ops.logical_and(tokens > 0, ops.logical_not(ops.any(same, axis=-1)))
    urgent = tokens_left(terms, progress) + 1 >= room
    if allowed.busy is not None:
        urgent = ops.logical_and(urgent, ops.logical_not(allowed.busy))
    barred = _of_tokens(allowed.barred, tokens)
    possible = ops.logical_and(possible, ops.logical_or(ops.logical_not(barred), urgent[..., None]))
    if allowed.forced is not None:
        possible = ops.logical_and(possible, (allowed.forced < 0)[..., None])
    return TermTokens(tokens, possible)


def _of_tokens(table: Any, tokens: Any) -> Any:
    """Return table[b, k, tokens[b, k, n]] for a table (B, K, V)."""
    shape = ops.shape(tokens)
    rows = ops.reshape(table, (-1, table.shape[-1]))
    return ops.reshape(take_rows(rows, ops.reshape(tokens, (-1, shape[-1]))), shape)
