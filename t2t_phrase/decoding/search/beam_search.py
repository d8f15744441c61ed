"""Beam search as in tensor2tensor, for any way of continuing hypotheses.

Shapes: B sentences, K beams, C candidates, L longest output of the batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.decoding.search.expansion import Alive, Expansion
from t2t_phrase.ops.blocks import write_block
from t2t_phrase.ops.rows import take_rows

# The score where there is no hypothesis: below any other, and finite.
WORST = -1e7


class Hypotheses(NamedTuple):
    """The hypotheses that a search found, best first.

    Attributes:
        ids: (B, K, L) int32, the tokens up to the last one, then 0.
        scores: (B, K) float32, the log-probability; if the hypothesis has ended, divided by the
            length penalty, plus the penalty of its last token, see `Candidates`; WORST where fewer
            than K were found.
        notes: (B, K, L, ...) the expansion's notes on each token, by name; padded after the last
            one.
    """

    ids: Any
    scores: Any
    notes: dict[str, Any]


def length_penalty(length: Any, alpha: float) -> Any:
    """Return $((5 + length) / 6)^alpha$, Wu et al. (2016), Eq. (14)."""
    return ((5.0 + ops.cast(length, "float32")) / 6.0) ** alpha


def beam_search(
    expansion: Expansion,
    *,
    max_lengths: Any,
    length: Any,
    beam_size: int,
    alpha: float,
    only_best: bool = False,
) -> Hypotheses:
    """Find the K best outputs of every sentence.

    There are two lists of K hypotheses: those that may continue (alive) and those that have ended
    (finished). A sentence is done when no alive hypothesis can displace a finished one any more, or
    at its maximum length. From then on its lists do not change, so its result does not depend on
    the rest of the batch. If no hypothesis has ended by then, the alive ones are returned.

    Args:
        expansion: continues the alive hypotheses.
        max_lengths: (B,) int32, longest output of each sentence, each at most L.
        length: L, a number or an int32 scalar.
        beam_size: K.
        alpha: exponent of the length penalty.
        only_best: stop as soon as the best hypothesis is certain; the others then may not be the
            next best.
    """
    batch_size = ops.shape(max_lengths)[0]
    max_penalty = length_penalty(max_lengths, alpha)

    def unfinished(index: Any, state: dict[str, Any], cache: Any) -> Any:
        del cache
        return ops.logical_and(index < length, ops.logical_not(ops.all(state["done"])))

    def advance(index: Any, state: dict[str, Any], cache: Any) -> tuple[Any, Any, Any]:
        tokens, notes = state["last"]
        alive = Alive(state["log_probs"], tokens, notes, state["done"])
        candidates, cache = expansion.expand(alive, index, cache)
        log_probs, parents, ended = candidates.log_probs, candidates.parents, candidates.ended
        last = (candidates.tokens, candidates.notes)
        history = _map(
            lambda past, now: write_block(_pick(past, parents), now[:, :, None], index, axis=2),
            state["alive"],
            last,
        )  # (B, C, L, ...)
        scores = log_probs / length_penalty(index + 1, alpha)
        if candidates.penalties is not None:
            scores += candidates.penalties

        # The K best that continue.
        best, kept = ops.top_k(ops.where(ended, -float("inf"), log_probs), beam_size)
        new = {"log_probs": best}
        new["alive"], new["last"] = _map(lambda x: _pick(x, kept), (history, last))
        parents = _pick(parents, kept)
        # The K best that ended before or end now.
        scores = ops.where(ended, scores, -float("inf"))
        scores = ops.concatenate([state["finished_scores"], scores], axis=1)
        new["finished_scores"], kept = ops.top_k(scores, beam_size)
        new["finished"] = _map(
            lambda before, now: _pick(ops.concatenate([before, now], axis=1), kept),
            state["finished"],
            history,
        )
        # Nothing can continue: if nothing has ended either, the hypotheses so far are the result.
        stuck = best[:, 0] == -float("inf")
        for name in ("log_probs", "alive"):
            new[name] = _map(lambda x, y: _where(stuck, x, y), state[name], new[name])
        old = {name: state[name] for name in new}
        new = _map(lambda before, after: _where(state["done"], before, after), old, new)

        bound = new["log_probs"][:, 0] / max_penalty
        worst = new["finished_scores"][:, 0 if only_best else -1]
        done = ops.logical_or(worst > bound, index + 1 >= max_lengths)
        new["done"] = ops.logical_or(state["done"], ops.logical_or(done, stuck))
        if beam_size > 1:
            cache = expansion.reorder(cache, parents)
        return index + 1, new, cache

    notes = {name: ops.convert_to_tensor(pad) for name, pad in expansion.notes.items()}
    padding = (ops.zeros((), "int32"), notes)
    empty = _map(lambda pad: _repeat(pad, (batch_size, beam_size, length)), padding)
    first = ops.arange(beam_size) == 0
    state = {
        "last": _map(lambda pad: _repeat(pad, (batch_size, beam_size)), padding),
        "log_probs": _repeat(
            ops.cast(ops.where(first, 0.0, -float("inf")), "float32"), (batch_size,)
        ),
        "alive": empty,
        "finished": empty,
        "finished_scores": ops.full((batch_size, beam_size), WORST, dtype="float32"),
        "done": max_lengths <= 0,
    }
    _, state, _ = ops.while_loop(
        unfinished, advance, (ops.convert_to_tensor(0), state, expansion.cache)
    )
    any_finished = state["finished_scores"][:, 0] > WORST
    ids, notes = _map(
        lambda finished, alive: _where(any_finished, finished, alive),
        state["finished"],
        state["alive"],
    )
    alive_scores = ops.maximum(state["log_probs"], WORST)
    return Hypotheses(ids, _where(any_finished, state["finished_scores"], alive_scores), notes)


_map = keras.tree.map_structure


def _repeat(value: Any, sizes: tuple[Any, ...]) -> Any:
    """Return `value` (...) repeated to (*sizes, ...)."""
    return ops.broadcast_to(value, (*sizes, *ops.shape(value)))


def _pick(values: Any, indices: Any) -> Any:
    """Return values[b, indices[b, k]] for values (B, N, ...) and indices (B, K)."""
    if values.shape[1] == indices.shape[1] == 1:
        return values  # the only index is 0
    return take_rows(values, indices)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    """Choose by sentence: `condition` (B,), values (B, ...)."""
    return ops.where(_expand(condition, yes), yes, no)


def _expand(x: Any, like: Any) -> Any:
    """Append axes of length 1 until `x` has as many axes as `like`."""
    return ops.reshape(x, (*ops.shape(x), *([1] * (len(like.shape) - len(x.shape)))))
