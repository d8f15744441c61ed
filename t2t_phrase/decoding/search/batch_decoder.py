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
        notes: maps the cache after a step to what is to be noted about the token that follows each
            hypothesis, (B, K) by name.
        pads: the padding of each note, see `Expansion.notes`.
        forced: maps the cache after a step to the token that must follow each hypothesis, (B, K)
            int32, -1 where any may; None: any may follow all of them.
        memory: what the model prepared of the sources, for expansions that step it themselves.
    """

    step: Callable[[Any, Any, Any], Step]
    cache: Any
    reorder: Callable[[Any, Any], Any]
    notes: Callable[[Any], dict[str, Any]] = _nothing
    pads: Mapping[str, Any] = {}
    forced: Callable[[Any], Any] | None = None
    memory: Any = None

    def forced_tokens(self, cache: Any) -> Any | None:
        """Return the result of `forced`; None: nothing is forced."""
        return None if self.forced is None else self.forced(cache)


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
        features: those of the source, see `EncoderDecoder`.
        beam_size: K.
        length: of the longest output, a number or a scalar.
        folded: from the model's `fold_weights`, which many batches may share; None: made here.
        growing: whether histories grow from step to step, see `ops.blocks.add_block`. Where no
            graph is traced, or only one of constants, they have room for the longest output anyway.
    """
    if growing:
        length = _nothing_yet(features["inputs"], length)
    memory = model.prepare_memory(features, folded)

    def step(ids: Any, index: Any, cache: Any) -> Step:
        return model.step(ids, index, memory, cache)

    cache = model.start_cache(memory, beam_size, length)
    return BatchDecoder(step, cache, model.reorder, memory=memory)


def _nothing_yet(inputs: Any, length: Any) -> Any:
    """Return a scalar 0 that is unknown while a graph is traced; `length` if it cannot be."""
    zero = ops.sum(inputs[:0])
    return zero if ops.zeros((zero,)).shape[0] is None else length
