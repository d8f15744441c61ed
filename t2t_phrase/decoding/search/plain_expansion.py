"""The best continuations by the model's own probabilities.

Shapes: B sentences, K beams, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.ops.likeliest import Likeliest, likeliest, logits_of
from t2t_phrase.special_ids import EOS_ID


def plain_expansion(decoder: BatchDecoder, *, min_length: int = 0) -> Expansion:
    """Continue hypotheses by their 2K best tokens over all beams; EOS ends them.

    At most K of the 2K can end, so K always continue.

    Args:
        decoder: of a batch.
        min_length: fewest tokens before EOS.
    """

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, cache, _ = decoder.step(alive.tokens, index, cache)
        logits = forbid_early_end(ops.cast(logits, "float32"), index, min_length)
        log_probs, parents, tokens = best_continuations(
            logits,
            alive.log_probs,
            decoder.forced_tokens(cache),
            decoder.barred_tokens(cache, logits.shape[-1]),
        )
        return candidates_of(decoder, cache, log_probs, parents, tokens), cache

    return Expansion(expand, decoder.cache, decoder.reorder, decoder.pads)


def candidates_of(
    decoder: BatchDecoder, cache: Any, log_probs: Any, parents: Any, tokens: Any
) -> Candidates:
    """Return continuations with a decoder's notes and penalties for the parent hypotheses.

    Args:
        decoder: of a batch.
        cache: of the decoder, after its step.
        log_probs: (B, C); all three as in `Candidates`.
        parents: (B, C).
        tokens: (B, C).
    """

    def of_parents(values: Any) -> Any:
        return ops.take_along_axis(values, parents, axis=1)

    return Candidates(
        log_probs,
        parents,
        tokens,
        ops.equal(tokens, EOS_ID),
        {name: of_parents(values) for name, values in decoder.notes(cache).items()},
        None if decoder.penalties is None else of_parents(decoder.penalties(cache)),
    )


def forbid_early_end(logits: Any, index: Any, min_length: int) -> Any:
    """Return logits (..., V) that exclude EOS before the time `min_length`."""
    if not min_length:
        return logits
    too_early = ops.logical_and(ops.arange(logits.shape[-1]) == EOS_ID, index < min_length)
    return ops.where(too_early, -float("inf"), logits)


def only_forced(values: Any, tokens: Any, logits: Any, forced: Any) -> tuple[Any, Any]:
    """Return the likeliest tokens and their logits if some tokens are forced, each (..., C).

    The result is as if the logits of all other tokens were -inf.

    Args:
        values: (..., C), the greatest logits in descending order.
        tokens: (..., C) int32, their tokens.
        logits: (..., V).
        forced: (...) int32, the only tokens that may follow; -1: any may.
    """
    others = ops.arange(tokens.shape[-1] - 1, dtype="int32")
    others = others + ops.cast(others >= forced[..., None], "int32")
    own = logits_of(logits, ops.maximum(forced, 0))[..., None]
    is_forced = forced[..., None] >= 0
    excluded = ops.full_like(values[..., 1:], -float("inf"))
    return (
        ops.where(is_forced, ops.concatenate([own, excluded], axis=-1), values),
        ops.where(is_forced, ops.concatenate([forced[..., None], others], axis=-1), tokens),
    )


def likeliest_allowed(
    logits: Any, count: int, forced: Any | None = None, barred: Any | None = None
) -> Likeliest:
    """Return the likeliest of the tokens that may follow; others have the logit -inf.

    Tokens keep the probability that they have among all.

    Args:
        logits: (..., V) float32.
        count: C, at most V.
        forced: (...) int32, the only tokens that may follow, -1 where any may; None: any may
            follow everywhere.
        barred: (..., V) bool, tokens that must not follow, unless they are forced; None: none.
    """
    if barred is None:
        top, tokens, normalizer = likeliest(logits, count)
    else:
        top, tokens, _ = likeliest(ops.where(barred, -float("inf"), logits), count)
        normalizer = ops.logsumexp(logits, axis=-1)
    if forced is not None:
        top, tokens = only_forced(top, tokens, logits, forced)
    return Likeliest(top, tokens, normalizer)


def best_continuations(
    logits: Any, log_probs: Any, forced: Any | None = None, barred: Any | None = None
) -> tuple[Any, Any, Any]:
    """Return (log-probabilities, parent beams, tokens), each (B, 2K), best first.

    The best 2K over all beams are among the best 2K of each beam; so the normalised
    log-probabilities of the whole vocabulary are never stored.

    Args:
        logits: (B, K, V) float32 of the next tokens.
        log_probs: (B, K) of the hypotheses that they continue.
        forced: (B, K) int32, see `likeliest_allowed`.
        barred: (B, K, V) bool, see `likeliest_allowed`.
    """
    beam_size = logits.shape[1]
    each = min(2 * beam_size, logits.shape[-1])
    top, tokens, normalizer = likeliest_allowed(logits, each, forced, barred)  # (B, K, each)
    top = top - normalizer[..., None] + log_probs[..., None]
    flat = (-1, beam_size * each)
    log_probs, chosen = ops.top_k(ops.reshape(top, flat), 2 * beam_size)
    tokens = ops.take_along_axis(ops.reshape(tokens, flat), chosen, axis=1)
    return log_probs, ops.cast(chosen // each, "int32"), ops.cast(tokens, "int32")
