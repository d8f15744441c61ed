"""The loss of predicting the labels of segments.

Shapes: B batch, S source tokens, P rows for segments, C classes.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.features import TAG_CLASSES
from t2t_phrase.models.base import Mean


def classes_of_segments(tags: Any, membership: Any, level: int) -> Any:
    """Return the class of the label of each segment of a level, (B, P) int32; 0 = no label.

    Args:
        tags: (B, S) int, see `features.TAGS`.
        membership: (B, P, S) bool, which tokens each segment of the level contains.
        level: the level, from 1 on.
    """
    of_tokens = ops.cast(tags, "int32") // TAG_CLASSES ** (level - 1) % TAG_CLASSES
    # All tokens of a segment have the same class.
    return ops.max(ops.where(membership, of_tokens[:, None, :], 0), axis=-1)


def tag_means(logits: Any, classes: Any) -> dict[str, Mean]:
    """Return the cross-entropy and the accuracy of predicted labels.

    Hao et al. (2019), Eq. (10), summed over all labelled segments of all sentences; EOS has no
    label.

    Args:
        logits: (B, P, C) float32.
        classes: (B, P) int32, 0 where there is no label.

    Returns:
        "tag_loss", in nats, and "tag_accuracy".
    """
    labelled = ops.cast(ops.greater(classes, 0), "float32")
    nll = -ops.take_along_axis(ops.log_softmax(logits, axis=-1), classes[..., None], axis=-1)
    correct = ops.cast(ops.equal(ops.cast(ops.argmax(logits, -1), "int32"), classes), "float32")
    count = ops.sum(labelled)
    return {
        "tag_loss": Mean(ops.sum(nll[..., 0] * labelled), count),
        "tag_accuracy": Mean(ops.sum(correct * labelled), count),
    }


def add_means(sums: dict[str, Mean], more: dict[str, Mean]) -> dict[str, Mean]:
    """Return the figures of `more` added to those of `sums`, where missing names count as 0."""
    zero = Mean(0.0, 0.0)
    return {
        name: Mean(sums.get(name, zero).total + mean.total, sums.get(name, zero).count + mean.count)
        for name, mean in more.items()
    }
