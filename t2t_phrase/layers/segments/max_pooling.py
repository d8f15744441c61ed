"""The vector of a phrase: the largest value of each dimension among its tokens."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.ops.segment_pooling import max_shares, segment_max


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MaxPooling(keras.layers.Layer):
    """Max-over-time pooling within each phrase.

    Xu et al. (2020), Eq. (2). Call arguments and result are those of `MeanPooling`; a token's
    weight is the part of the dimensions in which its value is the largest.

    Args:
        longest: at least the number of tokens in the longest phrase there will be; None = any.
    """

    def __init__(self, *, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.longest = longest

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create nothing: there is nothing to learn."""
        self.built = True

    def call(self, x: Any, membership: Any) -> tuple[Any, Any]:
        """Pool the tokens of every phrase."""
        phrases = segment_max(x, membership, longest=self.longest)
        return phrases, max_shares(x, phrases, membership)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "longest": self.longest}
