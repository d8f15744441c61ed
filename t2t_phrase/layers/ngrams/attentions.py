"""The six attentions of Nguyen and Joty (2018): each structure with each method.

Their call arguments and results are those of `NgramAttention`. Interleaved attention is
Eq. (9) to (12).
"""

from __future__ import annotations

import keras

from t2t_phrase import registry
from t2t_phrase.layers.ngrams.convkv import ConvKV
from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.homogeneous import Homogeneous
from t2t_phrase.layers.ngrams.interleaved import Interleaved
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.layers.ngrams.queryk import QueryK


@registry.attentions.register_as("homogeneous_convkv")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class HomogeneousConvKV(NgramAttention):
    """ConvKV in the homogeneous structure: each head attends to n-grams of one order.

    Nguyen and Joty (2018), Eq. (5) and Section 3.2.1, for a head h of order n:

        head_h = softmax((Q W_q,h) Conv_n(K, W_k,h)^T / sqrt(d_k)) Conv_n(V, W_v,h)
        output = [head_1; ...; head_H] W_o

    Conv_n pads with zeros on the left. Parameters: W_q and W_o D x D, and for each order n W_k and
    W_v n x D x (h_n d_k).

    The weights are (B, H, T, S).

    Args:
        head_counts: h_n, the number of heads for each of `orders`; their sum is `num_heads`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        # Two heads attend to tokens, one to bigrams, one to trigrams.
        attention = t2t_phrase.layers.HomogeneousConvKV(
            num_heads=4, hidden_size=64, orders=(1, 2, 3), head_counts=(2, 1, 1)
        )
        query, memory = keras.random.normal((2, 5, 64)), keras.random.normal((2, 7, 64))
        output, weights = attention(query, memory)  # (2, 5, 64), (2, 4, 5, 7)
        ```
    """

    structure_class = Homogeneous
    method_class = ConvKV
    options = ("head_counts",)


@registry.attentions.register_as("homogeneous_queryk")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class HomogeneousQueryK(NgramAttention):
    """QueryK in the homogeneous structure: each head attends to n-grams of one order.

    Nguyen and Joty (2018), Eq. (6) and Section 3.2.1, for a head h of order n:

        head_h = softmax(Conv_n(K W_k,h, Q W_q,h) / sqrt(d_k n)) Conv_n(V, W_v,h)
        output = [head_1; ...; head_H] W_o

    Both convolutions pad with zeros on the left. Parameters: W_k and W_o D x D, and for each order
    n W_q and W_v n x D x (h_n d_k).

    The weights are (B, H, T, S).

    Args:
        head_counts: h_n, the number of heads for each of `orders`; their sum is `num_heads`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.HomogeneousQueryK(
            num_heads=4, hidden_size=64, orders=(1, 2), head_counts=(2, 2)
        )
        x = keras.random.normal((2, 7, 64))
        causal = ops.arange(7)[:, None] >= ops.arange(7)
        output, weights = attention(x, x, attention_mask=causal)  # (2, 7, 64), (2, 4, 7, 7)
        to_bigrams = weights[:, 2:]  # (2, 2, 7, 7)
        ```
    """

    structure_class = Homogeneous
    method_class = QueryK
    options = ("head_counts",)


@registry.attentions.register_as("heterogeneous_convkv")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeterogeneousConvKV(NgramAttention):
    """ConvKV in the heterogeneous structure: one softmax over the n-grams of all orders.

    Nguyen and Joty (2018), Eq. (7), per head, [;] over the n-grams of all orders:

        head   = softmax(Q W_q [K W_k,1; Conv_2(K, W_k,2); ...]^T / sqrt(d_k))
                 [V W_v,1; Conv_2(V, W_v,2); ...]
        output = [head_1; ...; head_H] W_o

    Parameters: W_q and W_o D x D, and for each order n W_k,n and W_v,n n x D x D.

    The weights are (B, H, T, N S).

    Args:
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.HeterogeneousConvKV(
            num_heads=4, hidden_size=64, orders=(1, 2)
        )
        query, memory = keras.random.normal((2, 5, 64)), keras.random.normal((2, 7, 64))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]  # (2, 1, 1, 7)
        output, weights = attention(query, memory, attention_mask=mask)  # (2, 5, 64), (2, 4, 5, 14)
        to_tokens, to_bigrams = ops.split(weights, 2, axis=-1)  # (2, 4, 5, 7), (2, 4, 5, 7)
        ```
    """

    structure_class = Heterogeneous
    method_class = ConvKV
    options = ()


@registry.attentions.register_as("heterogeneous_queryk")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeterogeneousQueryK(NgramAttention):
    """QueryK in the heterogeneous structure: one softmax over the n-grams of all orders.

    Nguyen and Joty (2018), Eq. (8), per head, [;] over the n-grams of all orders:

        head   = softmax([(Q W_q,1)(K W_k)^T / sqrt(d_k);
                          Conv_2(K W_k, Q W_q,2) / sqrt(2 d_k); ...])
                 [V W_v,1; Conv_2(V, W_v,2); ...]
        output = [head_1; ...; head_H] W_o

    Differs from the paper: Eq. (8) has a W_k,n for each order, but the paper's tables count the
    parameters of a single W_k, which is the default here.

    Parameters: W_k and W_o D x D, and for each order n W_q,n and W_v,n n x D x D.

    The weights are (B, H, T, N S).

    Args:
        share_key_projection: False for a separate W_k,n for each order.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.HeterogeneousQueryK(
            num_heads=4, hidden_size=64, orders=(1, 2, 3)
        )
        x = keras.random.normal((2, 7, 64))
        causal = ops.arange(7)[:, None] >= ops.arange(7)
        output, weights = attention(x, x, attention_mask=causal)  # (2, 7, 64), (2, 4, 7, 21)
        ```
    """

    structure_class = Heterogeneous
    method_class = QueryK
    options = ("share_key_projection",)


@registry.attentions.register_as("interleaved_convkv")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedConvKV(NgramAttention):
    """ConvKV in the interleaved structure: n-grams of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (9) and (10), per head, [;] over the n-grams of all orders:

        A_m = softmax(Conv_m(Q, W_q,m) [K W_k,1; Conv_2(K, W_k,2); ...]^T / sqrt(d_k))
              [V W_v,1; Conv_2(V, W_v,2); ...]

    The output is the convolution of all A_m, heads joined, see `Interleaved`. Parameters: for each
    order n W_q,n, W_k,n and W_v,n n x D x D, and those of the output.

    Differs from the paper: its Table 1 gives models with ConvKV 116M parameters, as those with
    QueryK. With the weights of Eq. (9) and (10), they have 97.6M.

    The weights are (B, H, M T, N S).

    Args:
        look_ahead: True in the encoder, see `Interleaved`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        from t2t_phrase.layers.attention.blocks import split_blocks

        attention = t2t_phrase.layers.InterleavedConvKV(
            num_heads=4, hidden_size=64, orders=(1, 2), look_ahead=True
        )
        x = keras.random.normal((2, 7, 64))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]
        output, weights = attention(x, x, attention_mask=mask)  # (2, 7, 64), (2, 4, 14, 14)
        phrase_to_token = split_blocks(weights, attention.layout)[1][0]  # (2, 4, 7, 7)
        ```
    """

    structure_class = Interleaved
    method_class = ConvKV
    options = ("look_ahead",)


@registry.attentions.register_as("interleaved_queryk")
@keras.saving.register_keras_serializable(package="t2t_phrase")
class InterleavedQueryK(NgramAttention):
    """QueryK in the interleaved structure: n-grams of all orders attend to those of all orders.

    Nguyen and Joty (2018), Eq. (11) and (12), per head, [;] over the n-grams of all orders:

        A_m = softmax([Conv_m(Q, W_q,m,1)(K W_k)^T / sqrt(d_k);
                       Conv_2(K W_k, Conv_m(Q, W_q,m,2)) / sqrt(2 d_k); ...])
              [V W_v,1; Conv_2(V, W_v,2); ...]

    The output is the convolution of all A_m, heads joined, see `Interleaved`. $Conv_m(Q, W_q,m,n)$
    is n D wide: its n parts are the rows of the kernel that convolves the keys.

    Parameters: W_k D x D, for each pair of orders W_q,m,n m x D x n D, for each order W_v,n
    n x D x D, and those of the output.

    The weights are (B, H, M T, N S).

    Args:
        look_ahead: True in the encoder, see `Interleaved`.
        share_key_projection: False for a separate W_k,n for each order, see `HeterogeneousQueryK`.
        **kwargs: `num_heads`, `hidden_size`, `orders`, `dropout`, `initializer_gain` and
            `max_relative_position`, see `NgramAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.InterleavedQueryK(num_heads=4, hidden_size=64, orders=(1, 2))
        x = keras.random.normal((2, 7, 64))
        causal = ops.arange(7)[:, None] >= ops.arange(7)
        output, weights = attention(x, x, attention_mask=causal)  # (2, 7, 64), (2, 4, 14, 14)
        # Token by token, with the same results.
        cache = attention.start_cache(batch_size=2, beam_size=1, length=7)
        for i in range(7):
            output, weights, cache = attention.step(
                x[:, i : i + 1], cache, i, causal[None, None, i : i + 1]
            )  # (2, 1, 64), (2, 4, 2, 14), ...
        ```
    """

    structure_class = Interleaved
    method_class = QueryK
    options = ("look_ahead", "share_key_projection")
