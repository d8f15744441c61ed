"""Homogeneous attention by key-value convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras

from t2t_phrase.layers.ngrams.convkv import ConvKV
from t2t_phrase.layers.ngrams.homogeneous import Homogeneous
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HomogeneousConvKV(NgramAttention):
    """ConvKV in the homogeneous structure: each head attends to n-grams of one order.

    Nguyen and Joty (2018), Eq. (5) and Section 3.2.1, for a head h of order n:

        head_h = softmax((Q W_q,h) Conv_n(K, W_k,h)^T / sqrt(d_k)) Conv_n(V, W_v,h)
        output = [head_1; ...; head_H] W_o

    Conv_n pads with zeros at the left. Parameters: W_q and W_o D x D, and for each order n W_k and
    W_v n x D x (h_n d_k).

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

    def __init__(self, *, head_counts: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.head_counts = tuple(head_counts)
        self.structure = Homogeneous(self.num_heads, self.head_size, self.orders, self.head_counts)
        self.method = ConvKV(self.structure)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "head_counts": self.head_counts}
