"""Heterogeneous attention by key-value convolution."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.ngrams.convkv import ConvKV
from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeterogeneousConvKV(NgramAttention):
    """ConvKV in the heterogeneous structure: one softmax over the n-grams of all orders.

    Nguyen and Joty (2018), Eq. (7), per head, [;] over the n-grams of all orders:

        head   = softmax(Q W_q [K W_k,1; Conv_2(K, W_k,2); ...]^T / sqrt(d_k))
                 [V W_v,1; Conv_2(V, W_v,2); ...]
        output = [head_1; ...; head_H] W_o

    Parameters: W_q and W_o D x D, and for each order n W_k,n and W_v,n n x D x D.

    Args:
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

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.structure = Heterogeneous(self.num_heads, self.head_size, self.orders)
        self.method = ConvKV(self.structure)
