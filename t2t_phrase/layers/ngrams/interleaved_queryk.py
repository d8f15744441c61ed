"""Interleaved attention by query-as-kernel convolution."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.ngrams.interleaved import Interleaved
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.layers.ngrams.queryk import QueryK


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedQueryK(NgramAttention):
    """QueryK in the interleaved structure: n-grams of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (11) and (12), per head, [;] over the n-grams of all orders:

        A_m = softmax([Conv_m(Q, W_q,m,1)(K W_k)^T / sqrt(d_k);
                       Conv_2(K W_k, Conv_m(Q, W_q,m,2)) / sqrt(2 d_k); ...])
              [V W_v,1; Conv_2(V, W_v,2); ...]

    The output is the convolution of all A_m, heads joined, in `Interleaved`. Conv_m(Q, W_q,m,n) is
    n D wide: its n parts are the rows of the kernel that convolves the keys.

    Parameters: W_k D x D, for each pair of orders W_q,m,n m x D x n D, for each order W_v,n
    n x D x D, and those of the output.

    Args:
        look_ahead: True in the encoder, see `Interleaved`.
        share_key_projection: False for a W_k,n of each order, see `HeterogeneousQueryK`.
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

    def __init__(
        self, *, look_ahead: bool = False, share_key_projection: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.look_ahead = look_ahead
        self.share_key_projection = share_key_projection
        self.structure = Interleaved(self.num_heads, self.head_size, self.orders, self.look_ahead)
        self.method = QueryK(self.structure, self.share_key_projection)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "look_ahead": self.look_ahead,
            "share_key_projection": self.share_key_projection,
        }
