"""Evaluates pairs of a hypothesis and a position, K of each sentence at a time.

Shapes: B sentences, K beams, S source positions, V vocabulary size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_phrase.decoding.search.alignment_pruning import Packed
from t2t_phrase.decoding.search.best_pairs import NEVER, Best, Evaluated

# A round evaluates a part of the batch: its size is that of the batch divided by one of these.
SHARES = (1, 4, 16)


class Sentences(NamedTuple):
    """Inputs of the evaluation other than the memory; the first axis is that of sentences.

    Attributes:
        tokens: (B, K) int32, the last token of each hypothesis.
        cache: the model's state, and any other state of each sentence.
        scores: (B, K S) float32, of each pair, without a token.
        packed: the pairs that are to be evaluated.
    """

    tokens: Any
    cache: Any
    scores: Any
    packed: Packed


# Maps memory, sentences and pairs (B, K) to the candidates that can follow.
Evaluate = Callable[[Any, Sentences, Any], Evaluated]
# Maps a memory and numbers (N,) of sentences to the memory of these.
TakeMemory = Callable[[Any, Any], Any]


def best_pairs(
    sentences: Sentences,
    memory: Any,
    *,
    evaluate: Evaluate,
    take_memory: TakeMemory,
    spare: int = 0,
) -> Best:
    """Return the best continuations of each sentence.

    A round evaluates the next K pairs of each sentence that has more. Few sentences have many
    pairs; so once few enough sentences are left, a round evaluates only a part of the batch, for
    which their memory and state are copied.

    Args:
        sentences: those of the batch.
        memory: of the model.
        evaluate: runs the model.
        take_memory: see `EncoderDecoder.take_memory`.
        spare: see `Best.none`.
    """
    counts = sentences.packed.counts
    batch, beams = sentences.tokens.shape
    sizes: list[int] = []
    if isinstance(batch, int):  # else a graph is traced for any number of sentences
        sizes = sorted({-(-batch // share) for share in SHARES}, reverse=True)
    # Sentences with the most pairs come first.
    by_count = ops.argsort(-counts)
    rank = ops.argsort(by_count)

    def of_all(number: Any, best: Best, memory: Any = memory, part: Sentences = sentences) -> Best:
        pairs, real = part.packed.round(number, beams)
        scores = ops.where(real, ops.take_along_axis(part.scores, pairs, axis=1), NEVER)
        evaluated = evaluate(memory, part, pairs)
        return best.merged(scores, pairs, evaluated)

    def of_some(size: int) -> Callable[[Any, Best], Best]:
        def made(number: Any, best: Best) -> Best:
            rows = by_count[:size]
            few = of_all(
                number, _take(best, rows), take_memory(memory, rows), _take(sentences, rows)
            )
            places = ops.where(rank < size, batch + rank, ops.arange(batch, dtype=rank.dtype))
            return keras.tree.map_structure(
                lambda old, new: ops.take(ops.concatenate([old, new], axis=0), places, axis=0),
                best,
                few,
            )

        return made

    rounds = [of_all, *(of_some(size) for size in sizes[1:])]

    def advance(number: Any, best: Best) -> tuple[Any, Best]:
        if len(rounds) == 1:
            return number + 1, of_all(number, best)
        left = ops.sum(ops.cast(counts > number * beams, "int32"))
        smallest = sum(ops.cast(left <= size, "int32") for size in sizes) - 1
        return number + 1, ops.switch(smallest, rounds, number, best)

    def unfinished(number: Any, best: Best) -> Any:
        del best
        return number < sentences.packed.rounds(beams)

    start = (ops.zeros((), "int32"), Best.none(sentences.tokens, spare))
    best: Best = ops.while_loop(unfinished, advance, start)[1]
    return best


def _take(values: Any, rows: Any) -> Any:
    """Return the rows of every tensor."""
    return keras.tree.map_structure(lambda x: ops.take(x, rows, axis=0), values)
