"""Prediction of the labels of segments from their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.sublayers import build_once


@keras.saving.register_keras_serializable(package="t2t_phrase")
class TagClassifier(keras.layers.Layer):
    """The logits of the label of each segment.

    Hao et al. (2019), Eq. (9): $W_t g + b_t$ for each segment.

    Differs from the paper: it does not say which g is meant where several heads attend to the same
    partition. Here it is the concatenation of their vectors. Each partition has its own W_t and
    b_t.

    Shapes: B batch, G heads of segments, P rows for segments, d_k width of a head, C classes.

    Args:
        heads: the partition of each of the G heads.
        partitions: the partitions whose segments have labels.
        classes: C.

    Call arguments:
        segments: (B, G, P, d_k) float, as `MultiGranularityAttention` returns them.

    Returns:
        (B, P, C) float32 for each of `partitions`, by name.

    Example:
        ```python
        classifier = t2t_phrase.layers.TagClassifier(
            heads=("phrases", "phrases", "pairs"), partitions=("phrases",), classes=20
        )
        logits = classifier(keras.random.normal((2, 3, 6, 16)))["phrases"]  # (2, 6, 20)
        ```
    """

    def __init__(
        self, *, heads: Sequence[str], partitions: Sequence[str], classes: int, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if lacking := sorted({*partitions} - {*heads}):
            raise ValueError(f"no head attends to the partitions {lacking}; got {list(heads)}.")
        self.heads = list(heads)
        self.partitions = list(partitions)
        self.classes = classes
        self.maps = [Dense(classes, dtype=self.dtype_policy, name=name) for name in self.partitions]

    def build(self, segments_shape: Any) -> None:
        """Create the weights."""
        for name, dense in zip(self.partitions, self.maps, strict=True):
            build_once(dense, (None, None, self.heads.count(name) * segments_shape[-1]))
        self.built = True

    def call(self, segments: Any) -> dict[str, Any]:
        """Return the logits of every segment's label."""
        batch, _, slots, width = ops.shape(segments)
        found = {}
        for name, dense in zip(self.partitions, self.maps, strict=True):
            own = [i for i, head in enumerate(self.heads) if head == name]
            vectors = ops.take(segments, ops.convert_to_tensor(own, "int32"), axis=1)
            vectors = ops.reshape(
                ops.transpose(vectors, (0, 2, 1, 3)), (batch, slots, len(own) * width)
            )
            found[name] = ops.cast(dense(vectors), "float32")
        return found

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "heads": self.heads,
            "partitions": self.partitions,
            "classes": self.classes,
        }
