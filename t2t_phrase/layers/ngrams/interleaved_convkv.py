"""Interleaved attention by key-value convolution."""

import keras

from t2t_phrase.layers.ngrams.heterogeneous_convkv import HeterogeneousConvKV
from t2t_phrase.layers.ngrams.interleaved import Interleaved


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedConvKV(Interleaved, HeterogeneousConvKV):
    """ConvKV in the interleaved structure: phrases of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (9) and (10), per head, [;] over the phrases of all orders:

        A_m = softmax(Conv_m(Q, W_q,m) [K W_k,1; Conv_2(K, W_k,2); ...]^T / sqrt(d_k))
              [V W_v,1; Conv_2(V, W_v,2); ...]

    and `Interleaved`'s convolution of all A_m, heads joined, for the output. Parameters: for each
    order n W_q,n, W_k,n and W_v,n n x D x D, and the output's.

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
        (output, weights): (B, T, D), and (B, H, M T, N S) float32 before dropout, laid out as
        `Interleaved` says.
    """
