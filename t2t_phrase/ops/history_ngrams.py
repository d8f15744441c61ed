"""Logits of the n-grams of a history, from the keys of its tokens.

Shapes: B batch, K beams, L time steps, $S = L K$ entries, R rows of queries (K for each query
order), h heads, d_k width of a token's key.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.attention import attention_logits


def history_ngram_logits(query: Any, key: Any, visible: Any) -> Any:
    """Return the logit of the n-gram that ends in each entry of a history, (B, h, R, S).

        logit_i = sum_{t=0}^{n-1} q[t] . k_{i-n+1+t},    k_i = 0 for i < 0

    Nguyen and Joty (2018), Eq. (6), for a head of one order, without the scale.

    A history keeps the tokens of all beams side by side, see `ops.masks.history_mask`; k_i is the
    key of the token that a beam may see at time i. Every q[t] is multiplied by the keys of all
    tokens, and the products are added along the beam's own tokens. The logits of entries that the
    beam may not see are meaningless.

    Args:
        query: (B, R, h, n d_k), q[0] ... q[n-1] side by side.
        key: (B, h, d_k, S).
        visible: (B, 1, K, S) bool from `history_mask`.
    """
    _, rows, heads, query_width = ops.shape(query)
    width, beams = key.shape[2], ops.shape(visible)[2]
    order = query_width // width
    if order == 1:
        return attention_logits(query, key)
    times = ops.shape(key)[3] // beams
    parts = ops.reshape(query, (-1, rows, heads, order, width))
    products = ops.einsum("brhtd,bhds->bhrts", parts, key)
    products = ops.reshape(products, (-1, heads, rows // beams, beams, order, times, beams))
    own = ops.cast(ops.reshape(visible, (-1, 1, 1, beams, 1, times, beams)), products.dtype)
    earlier = ops.sum(products[..., :-1, :, :] * own, axis=-1)  # (B, h, R / K, K, n - 1, L)
    # All products of tokens before the sentence are zero.
    earlier = ops.pad(earlier, [*[(0, 0)] * 5, (order - 1, 0)])
    before = sum(earlier[..., t, t : t + times] for t in range(order - 1))
    logits = products[..., -1, :, :] + before[..., None]
    return ops.reshape(logits, (-1, heads, rows, times * beams))
