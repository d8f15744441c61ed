"""Exhibits of alignment models: the probabilities of positions and jumps.

Shapes: B batch, S source length, T target length, J classes of jumps.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.features import ALIGNMENT
from t2t_phrase.models.base import Features
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.ops.jumps import MOST, jumps_of, position_log_probs


def jump_exhibits(logits: Any, features: Features) -> dict[str, Exhibit]:
    """Return the probabilities of source positions and of jumps, teacher-forced.

    Jumps of more than S positions, which all leave the sentence, are left out.

    Args:
        logits: (B, T, J), of jumps.
        features: the features of the batch, with the alignment of the targets.
    """
    length = int(ops.shape(features["inputs"])[1])
    log_probs = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
    jumps = jumps_of(features[ALIGNMENT.name])
    reach = min(length, MOST)
    own = log_probs[..., MOST - reach : MOST + reach + 1]
    return {
        "positions": Exhibit(
            "probability of each source position",
            "target",
            "source",
            ops.exp(position_log_probs(log_probs, jumps.previous, length)),
            pruned=True,
            chosen=features[ALIGNMENT.name],
        ),
        "jumps": Exhibit(
            "probability of each jump",
            "target",
            tuple(f"{jump:+d}" if jump else "0" for jump in range(-reach, reach + 1)),
            ops.exp(own),
            chosen=jumps.classes - (MOST - reach),
        ),
    }
