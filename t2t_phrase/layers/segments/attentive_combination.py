"""Tokens look phrases up, and a small network joins what they find with what they are."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.encoder_layer import build_once, deserialize_sublayers
from t2t_phrase.layers.common.feed_forward import half_kernel_initializer, kernel_initializer
from t2t_phrase.ops.attention import attention_weights, heads_product, split_heads


@keras.saving.register_keras_serializable(package="t2t_phrase")
class AttentiveCombination(keras.layers.Layer):
    """The attentive combination network.

    Xu et al. (2020), Eq. (7) and (8):

        found = attention(x, phrases)
        output = W_4 sigmoid(W_3 [x | found] + b_3) + b_4

    The halves of W_3 are two maps, so that [x | found] is never built. Where phrases are few,
    `by_phrase` saves most of the products with W_q, W_o and the second half of W_3: these maps
    are multiplied into the keys and values of each phrase and head, of which there are fewer than
    tokens, and x is compared with the results as it is. That only orders the products otherwise.

    What is learned instead of b_4 is the output at rest, b = b_4 + W_4 (1/2 ... 1/2):

        output = W_4 (sigmoid(W_3 [x | found] + b_3) - 1/2) + b

    The same functions, but updates of W_4 do not move the outputs of all tokens in one direction,
    as they would with inputs that are all positive.

    Differs from the paper: its text takes x for the keys and phrases for queries and values, which
    would give one output for each phrase; as in its Figure 2 and its "cross-attention to phrases",
    the tokens x are the queries here, phrases the keys and values.

    Shapes: B batch, T tokens, P phrases, D `hidden_size`, H heads.

    Args:
        attention: a `MultiHeadAttention`.
        hidden_size: D, width of inputs and output.
        units: width between the two maps.
        by_phrase: whether to work phrase by phrase; worth it up to about D / H phrases.
        dropout: probability of dropping an input of W_4, in [0, 1): of putting the sigmoid to rest.

    Call arguments:
        x: (B, T, D) float.
        phrases: (B, P, D) float.
        phrase_mask: bool, four axes that broadcast to (B, H, T, P); True = may attend. None =
            everywhere.
        folded: from `fold`, so that it need not be made again; None = it is made here.
        training: whether dropout is active.

    Returns:
        (output (B, T, D), attention weights (B, H, T, P)).
    """

    def __init__(
        self,
        *,
        attention: keras.layers.Layer,
        hidden_size: int,
        units: int,
        by_phrase: bool = False,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.attention = attention
        self.hidden_size = hidden_size
        self.units = units
        self.by_phrase = by_phrase
        self.dropout = dropout
        half = {
            "kernel_initializer": half_kernel_initializer(hidden_size, units),
            "dtype": self.dtype_policy,
        }
        self.token_map = keras.layers.Dense(units, name="token", **half)
        self.phrase_map = keras.layers.Dense(units, use_bias=False, name="phrase", **half)
        self.outer_map = keras.layers.Dense(
            hidden_size,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="outer",
        )
        self.inner_dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, x_shape: Any, phrases_shape: Any = None) -> None:
        """Create all maps."""
        build_once(self.attention, x_shape, phrases_shape or x_shape)
        self.token_map.build((None, self.hidden_size))
        self.phrase_map.build((None, self.hidden_size))
        self.outer_map.build((None, self.units))
        self.built = True

    def call(
        self,
        x: Any,
        phrases: Any,
        phrase_mask: Any | None = None,
        folded: Cache | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Let every token look up the phrases."""
        return self.attend(x, self.project_memory(phrases, folded), phrase_mask, training=training)

    def fold(self) -> Cache:
        """Return what `project_memory` makes of weights alone.

        With `by_phrase` "value_maps" (H, D / H, units), the product of W_o and the second half of
        W_3, else nothing.
        """
        if not self.by_phrase:
            return {}
        heads, width = self.attention.num_heads, self.attention.head_size
        product = ops.matmul(self._kernel(self.attention.output_map), self._kernel(self.phrase_map))
        return {"value_maps": ops.reshape(product, (heads, width, self.units))}

    def project_memory(self, phrases: Any, folded: Cache | None = None) -> Cache:
        """Return what `attend` reads of phrases (B, P, D).

        With `by_phrase` "key" (B, D, H P) and "value" (B, H P, units), else the attention's own.
        """
        attention = self.attention
        if not self.by_phrase:
            return attention.project_memory(phrases)
        heads, width = attention.num_heads, attention.head_size
        value_maps = (self.fold() if folded is None else folded)["value_maps"]
        batch, slots, _ = ops.shape(phrases)
        keys = split_heads(attention.key_map(phrases), heads) * width**-0.5
        key_maps = ops.reshape(self._kernel(attention.query_map), (self.hidden_size, heads, width))
        key = ops.einsum("bphw,dhw->bdhp", keys, key_maps)
        return {
            "key": ops.reshape(key, (batch, self.hidden_size, heads * slots)),
            "value": heads_product(attention.value_map(phrases), value_maps),
        }

    def attend(
        self, x: Any, projected: Cache, phrase_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Look up phrases that `project_memory` prepared."""
        attention = self.attention
        if not self.by_phrase:
            found, weights = attention.attend(x, projected, phrase_mask, training=training)
            return self._join(x, self.phrase_map(found), training), weights
        batch, length, _ = ops.shape(x)
        logits = ops.matmul(x, projected["key"])
        logits = ops.reshape(logits, (batch, length, attention.num_heads, -1))
        mask = None if phrase_mask is None else ops.transpose(phrase_mask, (0, 2, 1, 3))
        weights = attention_weights(logits, mask)  # (B, T, H, P)
        dropped = ops.cast(attention.weight_dropout(weights, training=training), self.compute_dtype)
        found = ops.matmul(ops.reshape(dropped, (batch, length, -1)), projected["value"])
        return self._join(x, found, training), ops.transpose(weights, (0, 2, 1, 3))

    def _kernel(self, dense: keras.layers.Dense) -> Any:
        return ops.cast(ops.convert_to_tensor(dense.kernel), self.compute_dtype)

    def _join(self, x: Any, found: Any, training: bool) -> Any:
        """Return the output from x and W_3's product with what was found, (B, T, units)."""
        # sigmoid(z) - 1/2, without the difference of near numbers, which bfloat16 would round away.
        inner = 0.5 * ops.tanh(0.5 * (self.token_map(x) + found))
        return self.outer_map(self.inner_dropout(inner, training=training))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "hidden_size": self.hidden_size,
            "units": self.units,
            "by_phrase": self.by_phrase,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttentiveCombination:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
