"""Heterogeneous attention by query-as-kernel convolution."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.layers.ngrams.queryk import QueryK
from t2t_phrase.ops.attention import split_heads


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeterogeneousQueryK(QueryK, Heterogeneous):
    """QueryK in the heterogeneous structure: one softmax over the phrases of all orders.

    Nguyen and Joty (2018), Eq. (8), per head, [;] over the phrases of all orders:

        head   = softmax([(Q W_q,1)(K W_k)^T / sqrt(d_k);
                          Conv_2(K W_k, Q W_q,2) / sqrt(2 d_k); ...])
                 [V W_v,1; Conv_2(V, W_v,2); ...]
        output = [head_1; ...; head_H] W_o

    Differs from the paper: Eq. (8) has a W_k,n for each order, but only one W_k for all gives the
    numbers of parameters in its tables; so that is the default.

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
        (output, weights): (B, T, D), and (B, H, T, N S) float32 before dropout, laid out as
        `Heterogeneous` says.
    """

    def __init__(self, *, share_key_projection: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.share_key_projection = share_key_projection

    @property
    def key_names(self) -> list[str]:
        """The name of each order's map of tokens to keys."""
        return ["key" if self.share_key_projection else f"key_{n}" for n in self.orders]

    def make_key_maps(self) -> list[NgramDense]:
        """Return one map of tokens to keys, or one for each order."""
        return [self.ngram_map(name, 1, self.hidden_size) for name in dict.fromkeys(self.key_names)]

    def token_keys(self, memory: Any) -> list[tuple[str, Any]]:
        """Return the keys of all heads for each order."""
        keys = {dense.name: split_heads(dense(memory), self.num_heads) for dense in self.key_maps}
        return [(name, keys[name]) for name in self.key_names]

    def recent_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return by name what is kept of each token that phrases may reach back to."""
        keys = {
            name: (order - 1, self.num_heads, self.head_size)
            for name, order in zip(self.key_names, self.orders, strict=True)
            if order > 1
        }
        return {**super().recent_shapes(), **keys}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "share_key_projection": self.share_key_projection}
