"""The QueryK method: the query is the kernel that convolves the keys."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.ops.attention import attention_logits


class QueryK(NgramAttention):
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
            f"key_{order}": context.unfold_heads(name, keys, order)
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
        return [
            query * width**-0.5
            for query, width in zip(self._queries(rows), self.key_widths, strict=True)
        ]

    def logits(self, rows: Any, projected: Cache) -> Any:
        """Return the logits over all orders of `rows` (B, R, width)."""
        # Logits are fewer than the numbers in the queries, so scaling them costs less.
        return self.join_logits(
            [
                attention_logits(query, projected[f"key_{order}"]) * width**-0.5
                for query, order, width in zip(
                    self._queries(rows), self.orders, self.key_widths, strict=True
                )
            ]
        )

    def _queries(self, rows: Any) -> list[Any]:
        batch, length, _ = ops.shape(rows)
        ends = [sum(self.query_widths[: place + 1]) for place in range(len(self.orders) - 1)]
        parts = ops.split(rows, ends, axis=-1) if ends else [rows]
        return [
            ops.reshape(part, (batch, length, heads, width))
            for part, heads, width in zip(parts, self.heads_by_order, self.key_widths, strict=True)
        ]
