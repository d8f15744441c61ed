"""Random choices with given probabilities, reproducible wherever they are drawn.

Shapes: N rows, V choices, M parts.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.likeliest import block_width
from t2t_phrase.ops.random_bits import random_bits
from t2t_phrase.ops.rows import take_rows

# A probability of 1, as an integer. Sums of integers are exact in any order, so graphs, XLA and JAX
# differ only in the rounding of the softmax. The sum of a row has room for twice this value.
_UNITS = 2.0**30


def draw(logits: Any, seed: Any) -> Any:
    """Return (N,) int32: one entry of each row, drawn with the probabilities $softmax(logits)$.

    A random number below the sum of all probabilities falls into the share of one choice. As in
    `ops.likeliest`, a long row is split into blocks: first a block is chosen, then one of its
    entries.

    Args:
        logits: (N, V) float32, V known; -inf is never chosen, nor is an entry with a probability
            below $2^-30$.
        seed: (2,) int, see `random_bits`.
    """
    vocab = logits.shape[-1]
    width = block_width(vocab, 1) or vocab
    units = ops.cast(ops.softmax(logits, axis=-1) * _UNITS, "int32")
    if vocab % width:
        units = ops.pad(units, [(0, 0), (0, width - vocab % width)])
    blocks = ops.reshape(units, (-1, -(-vocab // width), width))
    sums = ops.sum(blocks, axis=-1)
    # Where a logit is NaN, the sum is meaningless.
    total = ops.maximum(ops.sum(sums, axis=-1, keepdims=True), 1)
    number = ops.mod(_numbers(ops.shape(logits)[0], seed)[:, None], total)
    block, rest = _fall(sums, number)
    place, _ = _fall(take_rows(blocks, block[:, None])[:, 0], rest)
    return ops.minimum(block * width + place, vocab - 1)


def _numbers(count: Any, seed: Any) -> Any:
    """Return (count,) int32, uniform from 0 to 2^31 - 1."""
    bits = ops.cast(random_bits(2 * count, seed), "int32")
    return bits[:count] // 2 * 65536 + bits[count:]


def _fall(units: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the part that each number falls into, (N,) int32, and its offset there, (N, 1).

    Args:
        units: (N, M) int32, the size of each part.
        numbers: (N, 1) int32, below the sum of all parts.
    """
    ends = ops.cumsum(units, axis=-1)
    passed = ends <= numbers
    part = ops.sum(ops.cast(passed, "int32"), axis=-1)
    rest = numbers - ops.max(ops.where(passed, ends, 0), axis=-1, keepdims=True)
    return ops.minimum(part, ops.shape(units)[1] - 1), rest
