"""Mean pooling, and the protocol that all poolings follow."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.ops.segment_pooling import mean_weights, weighted_sum


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MeanPooling(ImplicitMasks, keras.layers.Layer):
    """The mean over the tokens of each segment.

    Xu et al. (2020), Eq. (2). A row for a segment without tokens gives zeros. All poolings have
    these call arguments and results.

    Shapes: B batch, S positions, P rows for segments, D width.

    Call arguments:
        x: (B, S, D) float.
        membership: (B, P, S) bool, which tokens each segment contains, see `ops.partition`.

    Returns:
        (segments, weights): (B, P, D), and (B, P, S) float32, the contribution of each token; the
        weights of a segment sum to 1.

    Example:
        ```python
        x = keras.random.normal((1, 5, 64))
        membership = ops.array([[[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]], "bool")  # (1, 2, 5)
        segments, weights = t2t_phrase.layers.MeanPooling()(x, membership)  # (1, 2, 64), (1, 2, 5)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 3)),)

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Do nothing: the layer has no weights."""
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> tuple[Any, Any]:
        """Pool the tokens of every segment."""
        weights = mean_weights(membership)
        return weighted_sum(weights, x), weights
