"""The likeliest tokens of logits, and the normalizer that turns logits into log-probabilities.

Choosing the best of a long row takes longer than anything else that is done with the logits.

Shapes: V vocabulary size, C number of tokens.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.compile import within_xla
from t2t_phrase.ops.rows import take_rows

# Shorter blocks would not pay off: finding each maximum would take as long as choosing directly.
SHORTEST_BLOCK = 8


class Likeliest(NamedTuple):
    """The likeliest of all tokens.

    Attributes:
        logits: (..., C), the greatest first.
        tokens: (..., C) int32; of equal logits, the lowest token comes first.
        normalizer: (...), log sum exp of all logits, which is subtracted from logits to get
            log-probabilities; NaN where any logit is NaN.
    """

    logits: Any
    tokens: Any
    normalizer: Any


def likeliest(logits: Any, count: int) -> Likeliest:
    """Return the C likeliest tokens.

    A long vocabulary is split into blocks. The C tokens are in the C blocks with the greatest
    maxima, and only these are searched: C tokens rank ahead of those of any other block.

    Args:
        logits: (..., V) float32, V known.
        count: C, at most V.
    """
    vocab = logits.shape[-1]
    width = block_width(vocab, count)
    if width is not None:
        rows = ops.reshape(logits, (-1, vocab))
        found = _of_blocks(rows, _split(rows, width), count)
        shape = ops.shape(logits)[:-1]
        return Likeliest(
            ops.reshape(found.logits, (*shape, count)),
            ops.reshape(found.tokens, (*shape, count)),
            ops.reshape(found.normalizer, shape),
        )
    if count == 1:
        best, tokens = ops.max(logits, -1, keepdims=True), ops.argmax(logits, -1, keepdims=True)
    else:
        best, tokens = ops.top_k(logits, count)
    return Likeliest(best, ops.cast(tokens, "int32"), ops.logsumexp(logits, axis=-1))


def block_width(vocab: int, count: int) -> int | None:
    """Return the length of the blocks to split a vocabulary into; None if that does not pay off.

    With this length, there are about as many maxima to choose from as logits in the chosen blocks.
    A divisor of V is preferred, even if it is a few times longer or shorter: padding copies all
    logits.

    Args:
        vocab: V.
        count: C.
    """
    best = math.isqrt(vocab // count)
    if best < SHORTEST_BLOCK:
        return None
    near = range(max(SHORTEST_BLOCK, best // 3), 3 * best + 1)
    divisors = [width for width in near if vocab % width == 0]
    return min(divisors, key=lambda width: abs(math.log(width / best)), default=best)


def _split(rows: Any, width: int) -> Any:
    """Return (N, blocks, width) of logits (N, V), padded with -inf."""
    vocab = rows.shape[-1]
    blocks = -(-vocab // width)
    if blocks * width > vocab:
        padding = [(0, 0), (0, blocks * width - vocab)]
        rows = ops.pad(rows, padding, constant_values=-float("inf"))
    return ops.reshape(rows, (-1, blocks, width))


def _of_blocks(rows: Any, blocks: Any, count: int) -> Likeliest:
    """Return the likeliest tokens of logits (N, V), which are given in blocks, too."""
    vocab, width = rows.shape[-1], blocks.shape[-1]
    maxima = ops.max(blocks, axis=-1)
    chosen = ops.cast(ops.top_k(maxima, count)[1], "int32")
    # In vocabulary order, so that the first of equal logits is the lowest token.
    chosen = ops.sort(chosen, axis=-1)
    searched = ops.reshape(take_rows(blocks, chosen), (-1, count * width))
    logits, places = ops.top_k(searched, count)
    places = ops.cast(places, "int32")
    tokens = take_rows(chosen, places // width) * width + places % width
    # Where a logit is NaN, the order is undefined, and padding might come first.
    tokens = ops.minimum(tokens, vocab - 1)
    return Likeliest(logits, tokens, _normalizer(rows, tokens[:, 0], ops.max(maxima, axis=-1)))


def _normalizer(rows: Any, best: Any, greatest: Any) -> Any:
    """Return log(sum(exp(rows))), (N,).

    Args:
        rows: (N, V) logits.
        best: (N,) int32, the likeliest tokens.
        greatest: (N,) their logits; NaN where any logit is NaN.
    """
    if within_xla():
        return ops.logsumexp(rows, axis=-1)
    # The softmax is one operation. The probability of the likeliest token is too large to
    # underflow; where a logit is NaN, the probability might not be, but `greatest` is.
    probability = take_rows(ops.softmax(rows, axis=-1), best[:, None])[:, 0]
    return greatest - ops.log(probability)


def logits_of(logits: Any, tokens: Any) -> Any:
    """Return the logit of one token in each row: logits[..., tokens[...]].

    Args:
        logits: (..., V), V known.
        tokens: (...) int32.
    """
    rows = ops.reshape(logits, (-1, logits.shape[-1]))
    return ops.reshape(take_rows(rows, ops.reshape(tokens, (-1, 1))), ops.shape(tokens))
