"""A model's decoder, given the sources of one batch.

Shapes: B sentences, K beams.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.models.base import Step


def _nothing(cache: Any) -> dict[str, Any]:
    del cache
    return {}


class BatchDecoder(NamedTuple):
    """The part of a model that an expansion uses.

    Attributes:
        step: maps (ids (B, K) int32, time, cache) to a `Step`.
        cache: before the first token.
        reorder: maps (cache, parents (B, K) int32) to the cache of the beams that continue them.
        notes: maps the cache after a step to the notes on the token that follows each hypothesis,
            (B, K) by name.
        pads: the padding of each note, see `Expansion.notes`.
        forced: maps the cache after a step to the token that must follow each hypothesis, (B, K)
            int32, -1 where any may; None: any may follow all of them.
        memory: what the model prepared from the sources, for expansions that step the model
            themselves.
        barred: maps (the cache after a step, V) to the tokens that must not follow each hypothesis,
            (B, K, V) bool; None: any may follow all of them. Barred tokens keep their share of the
            probability.
        busy: maps the cache after a step to the hypotheses whose next token belongs to a given
            beginning, (B, K) bool; None: there is none.
        given: maps (the cache after a step, V) to the tokens of busy hypotheses that spell nothing
            beyond the given beginning, (B, K, V) bool; None: there is none.
        penalties: maps the cache after a step to the penalty added to the score of each hypothesis
            if it ends now, (B, K) float32, see `Candidates`; None: there is none.
    """

    step: Callable[[Any, Any, Any], Step]
    cache: Any
    reorder: Callable[[Any, Any], Any]
    notes: Callable[[Any], dict[str, Any]] = _nothing
    pads: Mapping[str, Any] = {}
    forced: Callable[[Any], Any] | None = None
    memory: Any = None
    barred: Callable[[Any, int], Any] | None = None
    busy: Callable[[Any], Any] | None = None
    given: Callable[[Any, int], Any] | None = None
    penalties: Callable[[Any], Any] | None = None

    def forced_tokens(self, cache: Any) -> Any | None:
        """Return the result of `forced`; None: nothing is forced."""
        return None if self.forced is None else self.forced(cache)

    def barred_tokens(self, cache: Any, vocab_size: int) -> Any | None:
        """Return the result of `barred`; None: nothing is barred."""
        return None if self.barred is None else self.barred(cache, vocab_size)

    def is_busy(self, cache: Any) -> Any | None:
        """Return the result of `busy`; None: there is no given beginning."""
        return None if self.busy is None else self.busy(cache)

    def also_barred(self, cache: Any, own: Any) -> Any:
        """Return the barred tokens of a decoder around this one, (B, K, V) bool.

        Given beginnings may have what the other decoder bars; so may a token that goes beyond one,
        if no other token can complete it.

        Args:
            cache: of this decoder, after its step.
            own: (B, K, V) bool, the tokens that the other decoder bars.
        """
        others = self.barred_tokens(cache, own.shape[-1])
        if self.busy is not None and self.given is not None:
            own = ops.logical_and(own, ops.logical_not(self.given(cache, own.shape[-1])))
            every = own if others is None else ops.logical_or(own, others)
            only = ops.logical_and(self.busy(cache), ops.all(every, axis=-1))
            own = ops.logical_and(own, ops.logical_not(only)[..., None])
        return own if others is None else ops.logical_or(own, others)


def of_inner(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return an inner decoder's function for the outer cache, which holds its own as "decoder"."""
    if function is None:
        return None
    return lambda cache, *others: function(cache["decoder"], *others)


def start_decoder(
    model: Any,
    features: Mapping[str, Any],
    *,
    beam_size: int,
    length: Any,
    folded: Any = None,
    growing: bool = False,
) -> BatchDecoder:
    """Encode a batch and return the decoder that reads it.

    Args:
        model: an `EncoderDecoder`.
        features: of the source, see `EncoderDecoder`.
        beam_size: K.
        length: of the longest output, a number or a scalar.
        folded: from the model's `fold_weights`, which many batches may share; None: made here.
        growing: whether histories grow from step to step, see `ops.blocks.add_block`. If no graph
            is traced, or only one of constants, they have room for the longest output in any case.
    """
    if growing:
        length = _nothing_yet(features["inputs"], length)
    memory = model.prepare_memory(features, folded)

    def step(ids: Any, index: Any, cache: Any) -> Step:
        return model.step(ids, index, memory, cache)

    cache = model.start_cache(memory, beam_size, length)
    return BatchDecoder(step, cache, model.reorder, memory=memory)


def around(
    inner: BatchDecoder,
    own: Mapping[str, Any],
    step: Callable[[Any, Any, Any], tuple[Step, dict[str, Any]]],
    reorder: Callable[[Any, Any], dict[str, Any]],
) -> BatchDecoder:
    """Return a decoder around another one, with additional state beside "decoder" in the cache.

    Notes, forced, barred and given tokens, busy hypotheses and penalties are those of the inner
    decoder.

    Args:
        inner: any.
        own: the additional state before the first token.
        step: maps (ids (B, K) int32, time, cache) to a step of the inner decoder and the next
            state.
        reorder: maps (cache, parents (B, K) int32) to the state of the beams that continue them.
    """

    def whole_step(ids: Any, index: Any, cache: Any) -> Step:
        found, state = step(ids, index, cache)
        return found._replace(cache={"decoder": found.cache, **state})

    def whole_reorder(cache: Any, parents: Any) -> Any:
        return {"decoder": inner.reorder(cache["decoder"], parents), **reorder(cache, parents)}

    return inner._replace(
        step=whole_step,
        cache={"decoder": inner.cache, **own},
        reorder=whole_reorder,
        notes=lambda cache: inner.notes(cache["decoder"]),
        forced=of_inner(inner.forced),
        barred=of_inner(inner.barred),
        busy=of_inner(inner.busy),
        given=of_inner(inner.given),
        penalties=of_inner(inner.penalties),
    )


def _nothing_yet(inputs: Any, length: Any) -> Any:
    """Return a scalar 0 that is unknown while a graph is traced; `length` if it would be known."""
    zero = ops.sum(inputs[:0])
    return zero if ops.zeros((zero,)).shape[0] is None else length
