"""Interleaved attention by key-value convolution."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.ngrams.convkv import ConvKV
from t2t_phrase.layers.ngrams.interleaved import Interleaved
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedConvKV(NgramAttention):
    """ConvKV in the interleaved structure: n-grams of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (9) and (10), per head, [;] over the n-grams of all orders:

        A_m = softmax(Conv_m(Q, W_q,m) [K W_k,1; Conv_2(K, W_k,2); ...]^T / sqrt(d_k))
              [V W_v,1; Conv_2(V, W_v,2); ...]

    The output is the convolution of all A_m, heads joined, in `Interleaved`. Parameters: for each
    order n W_q,n, W_k,n and W_v,n n x D x D, and those of the output.

    Args:
        look_ahead: True in the encoder, see `Interleaved`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout` and `max_relative_position`, see
            `NgramAttention`.

    Call arguments:
        query: (B, T, D) float.
        memory: (B, S, D) float; pass `query` again for self-attention.
        attention_mask: bool over tokens, broadcastable to (B, H, T, S); True = may attend.
        training: whether dropout is active.

    Returns:
        (output, weights): (B, T, D), and (B, H, M T, N S) float32 before dropout,
        in the layout of `Interleaved`.
    """

    def __init__(self, *, look_ahead: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.look_ahead = look_ahead
        self.structure = Interleaved(self.num_heads, self.head_size, self.orders, self.look_ahead)
        self.method = ConvKV(self.structure)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "look_ahead": self.look_ahead}
