"""Beam search as tensor2tensor does it, sentence by sentence.

Shapes: B sentences, K beams, V vocabulary size, L longest output of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.ops.blocks import write_block

EOS_ID = 1
# A score below that of any hypothesis, small enough to be added to without overflow.
WORST = -1e7

Step = Callable[[Any, Any, Any], tuple[Any, Any]]


class Hypotheses(NamedTuple):
    """What a search found, best first."""

    ids: Any
    """(B, K, L) int32: tokens up to and with EOS, then 0."""
    scores: Any
    """(B, K) float32: log-probability, for finished hypotheses divided by the length penalty."""


def length_penalty(length: Any, alpha: float) -> Any:
    """Return ((5 + length) / 6)^alpha, Wu et al. (2016), Eq. (14)."""
    return ((5.0 + ops.cast(length, "float32")) / 6.0) ** alpha


def beam_search(
    step: Step,
    cache: Any,
    *,
    reorder: Callable[[Any, Any], Any],
    max_lengths: Any,
    length: Any,
    beam_size: int,
    alpha: float,
    min_length: int = 0,
    only_best: bool = False,
) -> Hypotheses:
    """Find the K best outputs of every sentence.

    Finished and unfinished hypotheses are kept in two lists of K. Each step takes the 2K best
    continuations, of which at most K can end, so that K unfinished ones always remain. A sentence
    is done when no unfinished hypothesis could still displace a finished one, or at its own
    longest length; from then on nothing of it changes, so that its result does not depend on the
    rest of the batch. If nothing finished in time, the unfinished hypotheses are returned with
    their plain log-probabilities.

    Args:
        step: maps (ids (B, K) int32, time, cache) to (logits (B, K, V), cache).
        cache: whatever `step` needs to know of the past.
        reorder: maps (cache, parents (B, K) int32) to the cache of the beams that continue them.
        max_lengths: (B,) int32, longest output of each sentence with EOS, each at most L.
        length: L, a number or an int32 scalar.
        beam_size: K.
        alpha: exponent of the length penalty.
        min_length: fewest tokens before EOS.
        only_best: stop as soon as the best hypothesis is certain; the others then may not be the
            next best.
    """
    batch_size = ops.shape(max_lengths)[0]
    max_penalty = length_penalty(max_lengths, alpha)
    first = ops.broadcast_to(ops.arange(beam_size)[None] == 0, (batch_size, beam_size))

    def unfinished(index: Any, state: dict[str, Any], cache: Any) -> Any:
        del cache
        return ops.logical_and(index < length, ops.logical_not(ops.all(state["done"])))

    def advance(index: Any, state: dict[str, Any], cache: Any) -> tuple[Any, Any, Any]:
        logits, cache = step(state["last"], index, cache)
        logits = _forbid_early_end(ops.cast(logits, "float32"), index, min_length)
        log_probs, parents, tokens = _best_continuations(logits, state["log_probs"], beam_size)
        ids = ops.take_along_axis(state["ids"], parents[..., None], axis=1)  # (B, 2K, L)
        ids = write_block(ids, tokens[..., None], index, axis=2)
        scores = log_probs / length_penalty(index + 1, alpha)
        ended = ops.equal(tokens, EOS_ID)

        # Unfinished: the K best continuations that do not end.
        alive, kept = ops.top_k(ops.where(ended, -float("inf"), log_probs), beam_size)
        new = {"log_probs": alive, "ids": _pick(ids, kept), "last": _pick(tokens, kept)}
        parents = _pick(parents, kept)
        # Finished: the K best of those before and those that end now.
        new["finished_scores"], kept = ops.top_k(
            ops.concatenate(
                [state["finished_scores"], ops.where(ended, scores, scores + WORST)], axis=1
            ),
            beam_size,
        )
        new["finished"] = _pick(ops.concatenate([state["finished"], ended], axis=1), kept)
        new["finished_ids"] = _pick(ops.concatenate([state["finished_ids"], ids], axis=1), kept)
        new = {name: _where(state["done"], state[name], value) for name, value in new.items()}

        bound = new["log_probs"][:, 0] / max_penalty
        worst = new["finished_scores"][:, 0 if only_best else -1]
        done = ops.logical_or(worst > bound, index + 1 >= max_lengths)
        new["done"] = ops.logical_or(state["done"], done)
        return index + 1, new, reorder(cache, parents)

    state = {
        "last": ops.zeros((batch_size, beam_size), "int32"),
        "ids": ops.zeros((batch_size, beam_size, length), "int32"),
        "log_probs": ops.where(first, 0.0, -float("inf")),
        "finished": ops.logical_and(first, False),
        "finished_ids": ops.zeros((batch_size, beam_size, length), "int32"),
        "finished_scores": ops.where(first, WORST, WORST),
        "done": max_lengths <= 0,
    }
    _, state, _ = ops.while_loop(unfinished, advance, (ops.convert_to_tensor(0), state, cache))
    any_finished = ops.any(state["finished"], axis=1)
    return Hypotheses(
        ids=_where(any_finished, state["finished_ids"], state["ids"]),
        scores=_where(any_finished, state["finished_scores"], state["log_probs"]),
    )


def _forbid_early_end(logits: Any, index: Any, min_length: int) -> Any:
    if not min_length:
        return logits
    too_early = ops.logical_and(ops.arange(logits.shape[-1]) == EOS_ID, index < min_length)
    return ops.where(too_early, -float("inf"), logits)


def _best_continuations(logits: Any, log_probs: Any, beam_size: int) -> tuple[Any, Any, Any]:
    """Return (log-probabilities, parent beams, tokens), each (B, 2K), best first.

    The best 2K over all beams are among the best 2K of each beam; so the normalised
    log-probabilities of the whole vocabulary are never written out.
    """
    each = min(2 * beam_size, logits.shape[-1])
    top, tokens = ops.top_k(logits, each)  # (B, K, each)
    top = top - ops.logsumexp(logits, axis=-1, keepdims=True) + log_probs[..., None]
    flat = (-1, beam_size * each)
    log_probs, chosen = ops.top_k(ops.reshape(top, flat), 2 * beam_size)
    tokens = ops.take_along_axis(ops.reshape(tokens, flat), chosen, axis=1)
    return log_probs, ops.cast(chosen // each, "int32"), ops.cast(tokens, "int32")


def _pick(values: Any, indices: Any) -> Any:
    """Return values[b, indices[b, k]] for values (B, N) or (B, N, L)."""
    if len(values.shape) == 3:
        indices = indices[..., None]
    return ops.take_along_axis(values, indices, axis=1)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    """Choose by sentence: `condition` (B,), values (B, ...)."""
    condition = ops.reshape(condition, (-1, *([1] * (len(yes.shape) - 1))))
    return ops.where(condition, yes, no)
