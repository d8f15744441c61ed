"""The last state of an LSTM over the tokens of each segment."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.granularities.head_lstm import HeadLSTM
from t2t_phrase.ops.segment_pooling import gather_segments, without_padding


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LSTMComposition(ImplicitMasks, keras.layers.Layer):
    """The last hidden state of an LSTM that reads the tokens of a segment.

    Hao et al. (2019), Section 3.2. The segments of all sentences and heads are read side by side,
    in one loop over the tokens of the longest segment.

    Arguments, call arguments and results are those of `MaxComposition`.

    Example:
        ```python
        composition = t2t_phrase.layers.LSTMComposition(num_heads=2, longest=3)
        # The heads have different partitions.
        heads = [[[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]]
        membership = ops.array([heads], "bool")  # (1, 2, 2, 5)
        y = composition(keras.random.normal((1, 2, 5, 16)), membership)  # (1, 2, 2, 16)
        ```
    """

    implicit_masks = (("x", MaskArgument("membership", 4)),)

    def __init__(self, *, num_heads: int, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.longest = longest

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create the LSTM of each head."""
        self.lstm = HeadLSTM(num_heads=self.num_heads, dtype=self.dtype_policy, name="lstm")
        self.lstm.build(x_shape)
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: segments that contain no token are zeros."""
        del inputs, mask

    def call(self, x: Any, membership: Any) -> Any:
        """Compose every segment."""
        x = without_padding(x, membership)
        batch, heads, length, width = ops.shape(x)
        slots = ops.shape(membership)[2]
        longest = length if self.longest is None else min_of(self.longest, length)
        projected = ops.reshape(
            self.lstm.project(x), (batch * heads, length, self.lstm.gate_units(width))
        )
        tokens, last = gather_segments(
            projected, ops.reshape(membership, (batch * heads, slots, length)), longest
        )
        # All segments of all sentences are rows; the heads stay side by side.
        tokens = ops.reshape(tokens, (batch, heads, slots, longest, projected.shape[-1]))
        tokens = ops.transpose(tokens, (0, 2, 3, 1, 4))  # (B, P, N, G, 4W)
        rows = ops.reshape(tokens, (batch * slots, longest, heads, projected.shape[-1]))
        outputs = ops.reshape(self.lstm.read(rows), (batch, slots, longest, heads, width))
        final = ops.equal(
            ops.reshape(last, (batch, heads, slots))[..., None], ops.arange(longest)
        )  # (B, G, P, N)
        return ops.einsum("bpngw,bgpn->bgpw", outputs, ops.cast(final, outputs.dtype))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "num_heads": self.num_heads, "longest": self.longest}


def min_of(bound: int, length: Any) -> Any:
    """Return the smaller value: a number, or a scalar if only the graph knows the length."""
    return min(bound, length) if isinstance(length, int) else ops.minimum(bound, length)
