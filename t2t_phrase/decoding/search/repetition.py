"""A decoder that never repeats a sequence of tokens.

Shapes: B sentences, K beams, L longest output, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder, around
from t2t_phrase.models.base import Step
from t2t_phrase.ops.blocks import write_block
from t2t_phrase.ops.rows import take_rows


def nonrepeating_decoder(
    decoder: BatchDecoder, *, size: int, shape: tuple[Any, int], length: Any
) -> BatchDecoder:
    """Return a decoder that bars each token that would end an n-gram for the second time.

    Paulus et al. (2018), Section 2.5, for n-grams of tokens. The given beginning of an output is
    not restricted, see `BatchDecoder.also_barred`.

    Args:
        decoder: of a batch.
        size: n.
        shape: (B, K).
        length: L, a number or a scalar.
    """

    def step(ids: Any, index: Any, cache: Any) -> tuple[Step, dict[str, Any]]:
        history = write_block(cache["history"], ids[..., None], index, axis=2)
        found = decoder.step(ids, index, cache["decoder"])
        return found, {"history": history, "time": index}

    def reorder(cache: Any, parents: Any) -> dict[str, Any]:
        return {"history": take_rows(cache["history"], parents), "time": cache["time"]}

    def barred(cache: Any, vocab_size: int) -> Any:
        own = completing(cache["history"], cache["time"], size, vocab_size)
        return decoder.also_barred(cache["decoder"], own)

    # The input of each step, the first of which is not a token, and the number of the last step.
    start = {"history": ops.zeros((*shape, length), "int32"), "time": ops.zeros((), "int32")}
    return around(decoder, start, step, reorder)._replace(barred=barred)


def completing(history: Any, index: Any, size: int, vocab_size: int) -> Any:
    """Return (B, K, V) bool: the tokens that would end an n-gram that has occurred.

    Args:
        history: (B, K, L) int32, the tokens so far at the places from 1 to `index`.
        index: number of the tokens, a scalar.
        size: n.
        vocab_size: V.
    """
    batch, beams, length = ops.shape(history)
    places = ops.arange(length)
    found = ops.logical_and(places >= size, places <= index)  # (L,), where n-grams end
    found = ops.broadcast_to(found, (batch, beams, length))
    for back in range(1, size):
        earlier = ops.pad(history, [(0, 0), (0, 0), (back, 0)])[..., :length]
        now = ops.take(history, ops.maximum(index + 1 - back, 0), axis=2)
        found = ops.logical_and(found, ops.equal(earlier, now[..., None]))
    rows = ops.reshape(ops.arange(batch * beams), (batch, beams, 1))
    counts = ops.scatter(
        ops.reshape(rows * vocab_size + history, (-1, 1)),
        ops.cast(ops.reshape(found, (-1,)), "int32"),
        (batch * beams * vocab_size,),
    )
    return ops.reshape(counts, (batch, beams, vocab_size)) > 0
