"""Self-attention within segments, with the max-pooled segment as the query."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.common.sublayers import build_once
from t2t_phrase.layers.granularities.head_dense import HeadDense
from t2t_phrase.layers.granularities.max_composition import MaxComposition
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.segment_pooling import without_padding


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AttentionComposition(ImplicitMasks, keras.layers.Layer):
    """Self-attention within each segment, with the segment's maximum as the query.

    Hao et al. (2019), Section 3.2, for a head and a segment of the tokens x_1, ..., x_l:

        q = max(x_1, ..., x_l) W_Q
        p = softmax(q (x_1 W_K)^T / sqrt(W), ..., q (x_l W_K)^T / sqrt(W))
        segment = sum_i p_i x_i W_V

    The softmax runs in float32 under every dtype policy.

    Arguments, call arguments and results are those of `MaxComposition`.

    Example:
        ```python
        from t2t_phrase.ops.partition import fixed_partition, segment_membership

        pairs = fixed_partition(ops.arange(7) < ops.array([[7], [4]]), 2)  # (2, 7)
        membership = segment_membership(pairs, slots=4)  # (2, 4, 7)
        of_heads = ops.repeat(membership[:, None], 2, axis=1)  # (2, 2, 4, 7)
        composition = t2t_phrase.layers.AttentionComposition(num_heads=2, longest=2)
        y = composition(keras.random.normal((2, 2, 7, 16)), of_heads)  # (2, 2, 4, 16)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 4)),)

    def __init__(self, *, num_heads: int, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.longest = longest
        self.glance = MaxComposition(num_heads=num_heads, longest=longest, dtype=self.dtype_policy)

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create the three maps of each head."""
        shared = {
            "num_heads": self.num_heads,
            "units": x_shape[-1],
            "dtype": self.dtype_policy,
        }
        self.query_map = HeadDense(name="query", **shared)
        self.key_map = HeadDense(name="key", **shared)
        self.value_map = HeadDense(name="value", **shared)
        for layer in (self.query_map, self.key_map, self.value_map):
            build_once(layer, x_shape)
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> Any:
        """Compose every segment."""
        x = without_padding(x, membership)
        query = self.query_map(self.glance(x, membership)) * x.shape[-1] ** -0.5  # (B, G, P, W)
        logits = ops.einsum("bgpw,bgsw->bgps", query, self.key_map(x))
        weights = attention_weights(logits, membership)
        value = self.value_map(x)
        return ops.einsum("bgps,bgsw->bgpw", ops.cast(weights, value.dtype), value)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "num_heads": self.num_heads, "longest": self.longest}
