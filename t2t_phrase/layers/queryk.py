"""The QueryK method: the query is the kernel that convolves the keys."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.layers.multi_head_attention import Cache
from t2t_phrase.layers.ngram_context import NgramContext
from t2t_phrase.layers.phrase_attention import PhraseAttention
from t2t_phrase.ops.attention import attention_logits


class QueryK(PhraseAttention):
    """Base of attention by query-as-kernel convolution.

    Nguyen and Joty (2018), Eq. (6), per head:

        logit_ij = sum_{t=0}^{n-1} (Q_i W_q[t]) . (K_{j-n+1+t} W_k) / sqrt(d_k n)
        value_j  = Conv_n(V, W_v)_j

    With the n keys of a phrase side by side, a logit is one product of n d_k numbers.
    """

    @property
    def query_widths(self) -> tuple[int, ...]:
        """Width of all heads' queries to each of `orders`."""
        return tuple(
            heads * width for heads, width in zip(self.heads_by_order, self.key_widths, strict=True)
        )

    @property
    def key_widths(self) -> tuple[int, ...]:
        """Width of one head's key of each of `orders`."""
        return tuple(order * self.head_size for order in self.orders)

    def token_keys(self, memory: Any) -> list[tuple[str, Any]]:
        """Return for each order the name and the keys (B, S, h_n, d_k) of its tokens.

        While decoding, keys are kept by this name; orders that share keys share the name.
        """
        raise NotImplementedError

    def make_keys(self, memory: Any, context: NgramContext) -> Cache:
        """Return by order (B, h_n, S, n d_k): the keys of a phrase's tokens side by side."""
        return {
            f"key_{order}": ops.transpose(context.unfold(name, keys, order), (0, 2, 1, 3))
            for order, (name, keys) in zip(self.orders, self.token_keys(memory), strict=True)
        }

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of what `make_keys` returns."""
        return {
            f"key_{order}": (batch_size, heads, length, width)
            for order, heads, width in zip(
                self.orders, self.heads_by_order, self.key_widths, strict=True
            )
        }

    def split_queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, n d_k)."""
        batch, length, _ = ops.shape(rows)
        queries, start = [], 0
        for heads, width in zip(self.heads_by_order, self.key_widths, strict=True):
            stop = start + heads * width
            query = rows[:, :, start:stop] * width**-0.5
            queries.append(ops.reshape(query, (batch, length, heads, width)))
            start = stop
        return queries

    def logits(self, rows: Any, projected: Cache) -> Any:
        """Return the logits over all orders of `rows` (B, R, width)."""
        return self.join_logits(
            [
                attention_logits(query, projected[f"key_{order}"])
                for query, order in zip(self.split_queries(rows), self.orders, strict=True)
            ]
        )
