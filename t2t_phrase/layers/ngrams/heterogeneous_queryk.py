"""Heterogeneous attention by query-as-kernel convolution."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.layers.ngrams.queryk import QueryK


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeterogeneousQueryK(NgramAttention):
    """QueryK in the heterogeneous structure: one softmax over the n-grams of all orders.

    Nguyen and Joty (2018), Eq. (8), per head, [;] over the n-grams of all orders:

        head   = softmax([(Q W_q,1)(K W_k)^T / sqrt(d_k);
                          Conv_2(K W_k, Q W_q,2) / sqrt(2 d_k); ...])
                 [V W_v,1; Conv_2(V, W_v,2); ...]
        output = [head_1; ...; head_H] W_o

    Differs from the paper: Eq. (8) has a W_k,n for each order, but its tables count the parameters
    of a single W_k; so that is the default.

    Parameters: W_k and W_o D x D, and for each order n W_q,n and W_v,n n x D x D.

    Args:
        share_key_projection: False for a W_k,n of each order.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout` and `max_relative_position`, see
            `NgramAttention`.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float; pass `query` again for self-attention.
        attention_mask: bool over tokens, broadcastable to (B, H, T, S); True = may attend.
        training: whether dropout is active.

    Returns:
        (output, weights): (B, T, D), and (B, H, T, N S) float32 before dropout,
        in the layout of `Heterogeneous`.
    """

    def __init__(self, *, share_key_projection: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.share_key_projection = share_key_projection
        self.structure = Heterogeneous(self.num_heads, self.head_size, self.orders)
        self.method = QueryK(self.structure, self.share_key_projection)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "share_key_projection": self.share_key_projection}
