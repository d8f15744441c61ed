"""The loss of a batch of jumps between aligned source positions."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.models.base import Features, Loss, Mean
from t2t_phrase.models.packed_rows import jumps_in
from t2t_phrase.models.token_losses import loss_of_tokens
from t2t_phrase.ops.masks import padding_mask


def loss_of_jumps(losses: dict[str, Any], features: Features) -> Loss:
    """Return the result of `loss_of_tokens` with "clipped", the share of jumps that are too long.

    Args:
        losses: from `token_losses`, for the classes of jumps.
        features: the features of the batch, with "targets" and "alignment".
    """
    objective, means = loss_of_tokens(losses, features["targets"])
    real = ops.cast(padding_mask(features["targets"]), "float32")
    clipped = ops.cast(jumps_in(features).clipped, "float32")
    return Loss(objective, {**means, "clipped": Mean(ops.sum(clipped * real), ops.sum(real))})
