"""Attention of tokens to segments, and a small network that combines tokens with the result."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.layers.segments.halves import halves
from t2t_phrase.ops.attention import attention_weights, heads_product, split_heads


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AttentiveCombination(ImplicitMasks, keras.layers.Layer):
    """The attentive combination network.

    Xu et al. (2020), Eq. (7) and (8):

        found = attention(x, segments)
        output = W_4 sigmoid(W_3 [x; found] + b_3) + b_4

    The halves of W_3 are two maps, so $[x; found]$ is never built. With few segments, `by_segment`
    saves most of the products with W_q, W_o and the second half of W_3: these maps are multiplied
    into each head's keys and values of the segments, which are fewer than the tokens. Only the
    order of the products differs.

    Instead of b_4, the layer learns $b = b_4 + W_4 [1/2; ...; 1/2]$, the output where the sigmoid's
    input is zero:

        output = W_4 (sigmoid(W_3 [x; found] + b_3) - 1/2) + b

    Both forms express the same functions, but with the first, whose inputs to W_4 are all positive,
    updates of W_4 would move the outputs of all tokens in one direction.

    Differs from the paper: its text uses x as keys and the segments as queries and values, which
    would give one output for each segment. As in its Figure 2 and its "cross-attention to phrases",
    the tokens x are the queries here, and the segments are keys and values.

    Shapes: B batch, T tokens, P segments, D `hidden_size`, H heads.

    Args:
        attention: a `MultiHeadAttention`.
        hidden_size: D, width of inputs and output.
        units: width between the two maps.
        by_segment: whether to multiply W_q, W_o and W_3 into the segments; faster for up to about
            D / H segments.
        dropout: probability of dropping an input of W_4, in [0, 1).

    Call arguments:
        x: (B, T, D) float.
        segments: (B, P, D) float.
        segment_mask: bool with four axes, broadcastable to (B, H, T, P); True = may attend. None =
            everywhere.
        folded: from `fold`; None = computed here.
        training: whether dropout is active.

    Returns:
        (output, weights): (B, T, D), and (B, H, T, P) float32 before dropout.

    Example:
        ```python
        combination = t2t_phrase.layers.AttentiveCombination(
            attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            hidden_size=64,
            units=128,
        )
        x, segments = keras.random.normal((2, 7, 64)), keras.random.normal((2, 3, 64))
        mask = (ops.arange(3) < ops.array([[3], [2]]))[:, None, None]  # (2, 1, 1, 3)
        output, weights = combination(x, segments, segment_mask=mask)  # (2, 7, 64), (2, 4, 7, 3)
        ```
    """

    implicit_masks = (("segments", MaskArgument("segment_mask", 4)),)

    def __init__(
        self,
        *,
        attention: keras.layers.Layer,
        hidden_size: int,
        units: int,
        by_segment: bool = False,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.attention = attention
        self.hidden_size = hidden_size
        self.units = units
        self.by_segment = by_segment
        self.dropout = dropout
        self.token_map, self.segment_map = halves(
            units, hidden_size=hidden_size, names=("token", "phrase"), dtype=self.dtype_policy
        )
        self.outer_map = Dense(
            hidden_size,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="outer",
        )
        self.inner_dropout = Dropout(dropout, dtype=self.dtype_policy)

    def build(self, x_shape: Any, segments_shape: Any = None) -> None:
        """Create all maps."""
        build_once(self.attention, x_shape, segments_shape or x_shape)
        self.token_map.build((None, self.hidden_size))
        self.segment_map.build((None, self.hidden_size))
        self.outer_map.build((None, self.units))
        self.built = True

    def call(
        self,
        x: Any,
        segments: Any,
        segment_mask: Any | None = None,
        folded: Cache | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend from every token to the segments, and combine."""
        return self.attend(
            x, self.project_memory(segments, folded), segment_mask, training=training
        )

    def fold(self) -> Cache:
        """Return the products of weights that `project_memory` uses.

        With `by_segment`, "value_maps" (H, D / H, units), the product of W_o and the second half of
        W_3; otherwise nothing.
        """
        if not self.by_segment:
            return {}
        heads, width = self.attention.num_heads, self.attention.head_size
        product = ops.matmul(
            self._kernel(self.attention.output_map), self._kernel(self.segment_map)
        )
        return {"value_maps": ops.reshape(product, (heads, width, self.units))}

    def project_memory(self, segments: Any, folded: Cache | None = None) -> Cache:
        """Return the projection of the segments (B, P, D), for `attend`.

        With `by_segment`, "key" (B, D, H P) and "value" (B, H P, units); otherwise the projected
        memory of the attention.
        """
        attention = self.attention
        if not self.by_segment:
            return attention.project_memory(segments)
        heads, width = attention.num_heads, attention.head_size
        value_maps = (self.fold() if folded is None else folded)["value_maps"]
        batch, slots, _ = ops.shape(segments)
        keys = split_heads(attention.key_map(segments), heads) * width**-0.5
        key_maps = ops.reshape(self._kernel(attention.query_map), (self.hidden_size, heads, width))
        key = ops.einsum("bphw,dhw->bdhp", keys, key_maps)
        return {
            "key": ops.reshape(key, (batch, self.hidden_size, heads * slots)),
            "value": heads_product(attention.value_map(segments), value_maps),
        }

    def attend(
        self, x: Any, projected: Cache, segment_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Attend to segments that `project_memory` prepared, and combine."""
        attention = self.attention
        if not self.by_segment:
            found, weights = attention.attend(x, projected, segment_mask, training=training)
            return self._join(x, self.segment_map(found), training), weights
        batch, length, _ = ops.shape(x)
        logits = ops.matmul(x, projected["key"])
        logits = ops.reshape(logits, (batch, length, attention.num_heads, -1))
        mask = None if segment_mask is None else ops.transpose(segment_mask, (0, 2, 1, 3))
        weights = attention_weights(logits, mask)  # (B, T, H, P)
        dropped = ops.cast(attention.weight_dropout(weights, training=training), self.compute_dtype)
        found = ops.matmul(ops.reshape(dropped, (batch, length, -1)), projected["value"])
        return self._join(x, found, training), ops.transpose(weights, (0, 2, 1, 3))

    def _kernel(self, dense: Dense) -> Any:
        return ops.cast(ops.convert_to_tensor(dense.kernel), self.compute_dtype)

    def _join(self, x: Any, found: Any, training: bool) -> Any:
        """Return the output from x and the second half of W_3 times `found`, (B, T, units)."""
        # sigmoid(z) - 1/2, without a difference that bfloat16 would round to few digits.
        inner = 0.5 * ops.tanh(0.5 * (self.token_map(x) + found))
        return self.outer_map(self.inner_dropout(inner, training=training))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "hidden_size": self.hidden_size,
            "units": self.units,
            "by_segment": self.by_segment,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttentiveCombination:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
