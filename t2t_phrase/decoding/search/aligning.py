"""A decoder that notes for every token which source position it attends to most.

Shapes: B sentences, K beams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.source_attention import SourceAttention, strongest
from t2t_phrase.models.base import Step

# The note with the source position that a token is aligned with. An expansion that hypothesises
# positions notes them under this name itself.
POSITION = "position"


def aligning_decoder(
    decoder: BatchDecoder,
    attention: SourceAttention,
    partitions: Mapping[str, Any],
    shape: tuple[Any, int],
) -> BatchDecoder:
    """Return a decoder whose note POSITION is the strongest source position of the next token.

    Args:
        decoder: of a batch.
        attention: the layers and heads that count.
        partitions: of the sources of the batch, see `SourceAttention.partitions`.
        shape: (B, K).
    """

    def step(ids: Any, index: Any, cache: Any) -> Step:
        logits, inner, weights = decoder.step(ids, index, cache["decoder"])
        position = strongest(attention.accumulate(weights, partitions))
        return Step(logits, {"decoder": inner, POSITION: position}, weights)

    def reorder(cache: Any, parents: Any) -> Any:
        # The position is computed again in every step.
        return {**cache, "decoder": decoder.reorder(cache["decoder"], parents)}

    def notes(cache: Any) -> dict[str, Any]:
        return {**decoder.notes(cache["decoder"]), POSITION: cache[POSITION]}

    start = {"decoder": decoder.cache, POSITION: ops.zeros(shape, "int32")}
    pads = {**decoder.pads, POSITION: 0}
    return BatchDecoder(step, start, reorder, notes, pads)
