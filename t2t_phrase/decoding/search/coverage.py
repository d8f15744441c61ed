"""A decoder that knows how much of the source each hypothesis has attended to.

Shapes: B sentences, S source length, K beams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder, around
from t2t_phrase.decoding.search.source_attention import SourceAttention
from t2t_phrase.models.base import Step
from t2t_phrase.ops.rows import take_rows

# Lower bound of the coverage, so that its logarithm is finite.
FLOOR = 1e-6


def covering_decoder(
    decoder: BatchDecoder,
    attention: SourceAttention,
    partitions: Mapping[str, Any],
    real: Any,
    *,
    beam_size: int,
    weight: float,
) -> BatchDecoder:
    """Return a decoder that penalises hypotheses that end without attending to all words.

    Wu et al. (2016), Eq. (14): the score of a hypothesis Y of a source X is

        log P(Y | X) / lp(Y) + cp(X; Y),  cp(X; Y) = beta sum_i log(min(sum_j p_ij, 1))

    with p_ij the probability with which target token j attends to source token i.

    Differs from the paper: with several layers and heads, p_ij is their mean, normalised where
    weights do not sum to 1, as in local-p attention; EOS is not a source token; and the coverage of
    a token is at least `FLOOR`.

    Args:
        decoder: of a batch.
        attention: the layers and heads that count.
        partitions: of the sources of the batch, see `SourceAttention.partitions`.
        real: (B, S) bool, the source tokens that are to be attended to.
        beam_size: K.
        weight: beta.
    """

    def step(ids: Any, index: Any, cache: Any) -> tuple[Step, dict[str, Any]]:
        found = decoder.step(ids, index, cache["decoder"])
        weights = attention.accumulate(found.weights, partitions)  # (B, K, S)
        total = ops.sum(weights, axis=-1, keepdims=True)
        return found, {"covered": cache["covered"] + weights / ops.maximum(total, FLOOR)}

    def reorder(cache: Any, parents: Any) -> dict[str, Any]:
        return {"covered": take_rows(cache["covered"], parents)}

    batch, length = ops.shape(real)
    start = {"covered": ops.zeros((batch, beam_size, length), "float32")}
    made = around(decoder, start, step, reorder)
    return made._replace(penalties=lambda cache: weight * coverage(cache["covered"], real))


def coverage(covered: Any, real: Any) -> Any:
    """Return (B, K): the sum over source tokens of the logarithm of their coverage, at most 0.

    Args:
        covered: (B, K, S) float32, sums of probabilities.
        real: (B, S) bool, the source tokens that count.
    """
    logs = ops.log(ops.clip(covered, FLOOR, 1.0))
    return ops.sum(ops.where(real[:, None], logs, 0.0), axis=-1)
