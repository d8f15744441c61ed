"""Max pooling: the largest value of each dimension within each segment."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.ops.segment_pooling import max_shares, segment_max


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MaxPooling(ImplicitMasks, keras.layers.Layer):
    """Max-over-time pooling within each segment.

    Xu et al. (2020), Eq. (2). Call arguments and results are those of `MeanPooling`; the weight of
    a token is the share of dimensions in which its value is the largest.

    Args:
        longest: an upper bound on the number of tokens in a segment; None = unknown.

    Example:
        ```python
        from t2t_phrase.ops.partition import fixed_partition, segment_membership

        x = keras.random.normal((2, 7, 64))
        real = ops.arange(7) < ops.array([[7], [4]])  # (2, 7)
        membership = segment_membership(fixed_partition(real, 3), slots=3)  # (2, 3, 7)
        pooling = t2t_phrase.layers.MaxPooling(longest=3)
        segments, weights = pooling(x, membership)  # (2, 3, 64), (2, 3, 7)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 3)),)

    def __init__(self, *, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.longest = longest

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Do nothing: the layer has no weights."""
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> tuple[Any, Any]:
        """Pool the tokens of every segment."""
        segments = segment_max(x, membership, longest=self.longest)
        return segments, max_shares(x, segments, membership)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "longest": self.longest}
