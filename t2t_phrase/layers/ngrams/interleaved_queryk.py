"""Interleaved attention by query-as-kernel convolution."""

import keras

from t2t_phrase.layers.ngrams.heterogeneous_queryk import HeterogeneousQueryK
from t2t_phrase.layers.ngrams.interleaved import Interleaved


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedQueryK(Interleaved, HeterogeneousQueryK):
    """QueryK in the interleaved structure: phrases of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (11) and (12), per head, [;] over the phrases of all orders:

        A_m = softmax([Conv_m(Q, W_q,m,1)(K W_k)^T / sqrt(d_k);
                       Conv_2(K W_k, Conv_m(Q, W_q,m,2)) / sqrt(2 d_k); ...])
              [V W_v,1; Conv_2(V, W_v,2); ...]

    and `Interleaved`'s convolution of all A_m, heads joined, for the output. The rows of the kernel
    that convolves phrases of order n are the n parts of Conv_m(Q, W_q,m,n), which is n D wide.

    Parameters: W_k D x D, for each pair of orders W_q,m,n m x D x n D, for each order W_v,n
    n x D x D, and the output's.

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
        (output, weights): (B, T, D), and (B, H, M T, N S) float32 before dropout, laid out as
        `Interleaved` says.
    """
