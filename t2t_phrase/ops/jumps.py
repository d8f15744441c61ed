"""Jumps between the source positions that successive target tokens are aligned with.

Alkhouli et al. (2018), Section 3.2. A jump is $a_i - a_{i-1}$, clipped to +-MOST; its class, which
a model predicts, is the clipped jump plus MOST. Before the first target token the position is
BEFORE, in front of the first source token, so an alignment of the two first tokens is a jump of 1.

Shapes: B batch, T target length, S source length, K beams.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.ops.position import positions

MOST = 100
CLASSES = 2 * MOST + 1
BEFORE = -1


class Jumps(NamedTuple):
    """The jumps of a batch.

    Attributes:
        previous: (B, T) int32, the position that the preceding token is aligned with.
        classes: (B, T) int32, the class of each jump.
        clipped: (B, T) bool, whether the jump is longer than MOST.
    """

    previous: Any
    classes: Any
    clipped: Any


def jumps_of(alignment: Any, places: Any | None = None) -> Jumps:
    """Return the jumps between positions.

    Args:
        alignment: (B, T) int, the position that each token is aligned with.
        places: (B, T) int, where rows hold several targets: the position of each token in its
            target, whose first token has no predecessor; None: each row is a target.
    """
    alignment = ops.cast(alignment, "int32")
    previous = ops.pad(alignment[:, :-1], [(0, 0), (1, 0)], constant_values=BEFORE)
    if places is not None:
        previous = ops.where(places > 0, previous, BEFORE)
    jumps = alignment - previous
    return Jumps(previous, _class_of(jumps), ops.abs(jumps) > MOST)


def position_log_probs(jump_log_probs: Any, previous: Any, length: Any) -> Any:
    """Return (B, K, S): the log-probability of the jump to each source position.

    Jumps that leave the sentence have probabilities as well, so the probabilities of its positions
    need not add up to 1. Each position farther away than MOST has that of the longest jump.

    Args:
        jump_log_probs: (B, K, CLASSES) float.
        previous: (B, K) int, the positions to jump from.
        length: S, a number or a scalar.
    """
    classes = _class_of(positions(length) - previous[..., None])
    return ops.take_along_axis(jump_log_probs, classes, axis=-1)


def _class_of(jumps: Any) -> Any:
    return ops.clip(jumps, -MOST, MOST) + MOST
