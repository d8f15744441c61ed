"""Attentive pooling: a weighted sum of the tokens of each segment."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.layers.segments.halves import halves
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.segment_pooling import to_tokens, weighted_sum


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AttentivePooling(ImplicitMasks, keras.layers.Layer):
    """Attentive phrase representations.

    Xu et al. (2020), Eq. (2) to (5), for a segment of the tokens R_1, ..., R_m:

        R_all = glance(R_1, ..., R_m)
        s_i = w_2 sigmoid(W_1 [R_i; R_all] + b_1)
        p = softmax(s_1, ..., s_m)
        segment = sum_i p_i R_i

    The halves of W_1 are two maps, so R_all is multiplied only once for each segment. The softmax
    runs in float32 under every dtype policy. There is no dropout.

    Differs from the paper: there is no b_2, which would change all scores by the same amount and so
    has no effect on the softmax.

    Args:
        glance: another pooling, which makes R_all.
        hidden_size: D, width of the tokens.
        units: width of the inner layer.

    Call arguments and results are those of `MeanPooling`.

    Example:
        ```python
        pooling = t2t_phrase.layers.AttentivePooling(
            glance=t2t_phrase.layers.MaxPooling(), hidden_size=64, units=32
        )
        x = keras.random.normal((1, 5, 64))
        membership = ops.array([[[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]], "bool")
        segments, weights = pooling(x, membership)  # (1, 2, 64), (1, 2, 5)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 3)),)

    def __init__(
        self, *, glance: keras.layers.Layer, hidden_size: int, units: int, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.glance = glance
        self.hidden_size = hidden_size
        self.units = units
        self.token_map, self.glance_map = halves(
            units, hidden_size=hidden_size, names=("token", "glance"), dtype=self.dtype_policy
        )
        self.score_map = Dense(
            1,
            use_bias=False,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="score",
        )

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create the maps."""
        build_once(self.glance, x_shape)
        self.token_map.build((None, self.hidden_size))
        self.glance_map.build((None, self.hidden_size))
        self.score_map.build((None, self.units))
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> tuple[Any, Any]:
        """Pool the tokens of every segment."""
        summary, _ = self.glance(x, membership)
        seen = self.glance_map(summary)  # (B, P, units)
        inner = ops.sigmoid(self.token_map(x) + to_tokens(seen, membership))  # (B, S, units)
        scores = self.score_map(inner)[..., 0]  # (B, S)
        weights = attention_weights(scores[:, None, :], membership)  # (B, P, S)
        return weighted_sum(weights, x), weights

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "glance": keras.saving.serialize_keras_object(self.glance),
            "hidden_size": self.hidden_size,
            "units": self.units,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttentivePooling:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
