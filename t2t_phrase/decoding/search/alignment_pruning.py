"""The source positions at which each hypothesis is continued, and their order.

Shapes: B sentences, K beams, S source positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops


def surviving_positions(log_probs: Any, real: Any, threshold: float) -> Any:
    """Return (B, K, S) bool: the positions that are at least as likely as `threshold`.

    Alkhouli et al. (2018), Algorithm 1, lines 10 to 17: if there is none, all positions survive.

    Args:
        log_probs: (B, K, S) float32, of each position for each hypothesis.
        real: (B, S) bool, the positions that are not padding; others never survive.
        threshold: in [0, 1].
    """
    real = real[:, None, :]
    likely = ops.logical_and(real, ops.exp(log_probs) >= threshold)
    return ops.where(ops.any(likely, axis=-1, keepdims=True), likely, real)


class Packed(NamedTuple):
    """Pairs of a hypothesis k and a position s, numbered $k S + s$, in rounds of K.

    Attributes:
        order: (B, K S) int32, all pairs, starting with those to be evaluated.
        counts: (B,) int32, the number of pairs to be evaluated.
    """

    order: Any
    counts: Any

    def rounds(self, size: int) -> Any:
        """Return the number of rounds of `size` pairs that are needed for all sentences."""
        return ops.max((self.counts + size - 1) // size)

    def round(self, number: Any, size: int) -> tuple[Any, Any]:
        """Return the pairs (B, size) of a round, and which of them are to be evaluated, bool."""
        slots = number * size + ops.arange(size, dtype="int32")
        return ops.take(self.order, slots, axis=1), slots < self.counts[:, None]


def pack(wanted: Any) -> Packed:
    """Return the pairs that are `wanted`, (B, K, S) bool, side by side."""
    batch, beams, length = ops.shape(wanted)
    wanted = ops.reshape(wanted, (batch, beams * length))
    numbers = ops.arange(beams * length, dtype="int32")
    order = ops.argsort(ops.where(wanted, numbers, numbers + beams * length), axis=1)
    return Packed(ops.cast(order, "int32"), ops.sum(ops.cast(wanted, "int32"), axis=1))
