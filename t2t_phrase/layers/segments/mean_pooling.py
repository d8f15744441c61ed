"""The vector of a phrase: the mean of its tokens'."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.ops.segment_pooling import mean_weights, weighted_sum


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MeanPooling(keras.layers.Layer):
    """The mean over the tokens of each phrase, and the protocol that every pooling follows.

    Xu et al. (2020), Eq. (2). A slot that holds no token gets zeros.

    Shapes: B batch, S positions, P slots for phrases, D width.

    Call arguments:
        x: (B, S, D) float.
        membership: (B, P, S) bool, which tokens each phrase holds, see `ops.partition`.

    Returns:
        (phrases, weights): (B, P, D), and (B, P, S) float32, what each token contributed; the
        weights of a phrase add up to 1.
    """

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create nothing: there is nothing to learn."""
        self.built = True

    def call(self, x: Any, membership: Any) -> tuple[Any, Any]:
        """Pool the tokens of every phrase."""
        weights = mean_weights(membership)
        return weighted_sum(weights, x), weights
