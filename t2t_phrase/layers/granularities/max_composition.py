"""Max-pooling of segments, and the protocol that all compositions follow."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.ops.segment_pooling import segment_max


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MaxComposition(ImplicitMasks, keras.layers.Layer):
    """The largest value of each dimension within each segment.

    Hao et al. (2019), Section 3.2, "Composition Strategies". All compositions have these
    arguments, call arguments and results; each head has its own weights, which all of its segments
    share. A row without tokens gives zeros, or a vector that has no effect on other rows.

    Shapes: B batch, G heads, S tokens, P rows for segments, W width of a head.

    Args:
        num_heads: G.
        longest: an upper bound on the number of tokens in a segment; None = unknown.

    Call arguments:
        x: (B, G, S, W) float, the tokens as each head sees them.
        membership: (B, G, P, S) bool, which tokens each segment of a head contains, see
            `ops.partition`.

    Returns:
        (B, G, P, W).

    Example:
        ```python
        x = keras.random.normal((1, 4, 5, 16))
        segments = ops.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], "bool")
        membership = ops.broadcast_to(segments, (1, 4, 2, 5))
        y = t2t_phrase.layers.MaxComposition(num_heads=4)(x, membership)  # (1, 4, 2, 16)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 4)),)

    def __init__(self, *, num_heads: int, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.longest = longest

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Do nothing: the layer has no weights."""
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> Any:
        """Compose every segment."""
        batch, heads, length, width = ops.shape(x)
        slots = ops.shape(membership)[2]
        maxima = segment_max(
            ops.reshape(x, (batch * heads, length, width)),
            ops.reshape(membership, (batch * heads, slots, length)),
            longest=self.longest,
        )
        return ops.reshape(maxima, (batch, heads, *ops.shape(maxima)[1:]))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "num_heads": self.num_heads, "longest": self.longest}
