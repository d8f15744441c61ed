"""Homogeneous attention by query-as-kernel convolution."""

from typing import Any

import keras

from t2t_phrase.layers.ngrams.homogeneous import Homogeneous
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.layers.ngrams.queryk import QueryK
from t2t_phrase.ops.attention import split_heads


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HomogeneousQueryK(QueryK, Homogeneous):
    """QueryK in the homogeneous structure: each head attends to phrases of one order.

    Nguyen and Joty (2018), Eq. (6) and Section 3.2.1, for a head h of order n:

        head_h = softmax(Conv_n(K W_k,h, Q W_q,h) / sqrt(d_k n)) Conv_n(V, W_v,h)
        output = [head_1; ...; head_H] W_o

    Both convolutions pad by zeros at the left. Parameters: W_k and W_o D x D, and for each order n
    W_q and W_v n x D x (h_n d_k).

    Args:
        head_counts: h_n, how many heads attend to each of `orders`; their sum is `num_heads`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout` and `max_relative_position`, see
            `NgramAttention`.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float; pass `query` again for self-attention.
        attention_mask: bool over tokens, broadcastable to (B, H, T, S); True = may attend.
        training: whether dropout is active.

    Returns:
        (output, weights): (B, T, D), and (B, H, T, S) float32 before dropout.
    """

    def make_key_maps(self) -> list[NgramDense]:
        """Return the one map of tokens to keys."""
        return [self.ngram_map("key", 1, self.hidden_size)]

    def token_keys(self, memory: Any) -> list[tuple[str, Any]]:
        """Return each order's heads of the keys."""
        keys = split_heads(self.key_maps[0](memory), self.num_heads)
        by_order = self.split_heads_by_order(keys, axis=2)
        return [(f"key_{n}", own) for n, own in zip(self.orders, by_order, strict=True)]

    def recent_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return by name what is kept of each token that phrases may reach back to."""
        keys = {
            f"key_{order}": (order - 1, heads, self.head_size)
            for order, heads in zip(self.orders, self.head_counts, strict=True)
            if order > 1
        }
        return {**super().recent_shapes(), **keys}
