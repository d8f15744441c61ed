"""The ConvKV method: keys and values are convolutions, queries stay what they are."""

from __future__ import annotations

from typing import Any

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.attention import attention_logits, split_heads


class ConvKV(NgramAttention):
    """Base of attention by key-value convolution.

    Nguyen and Joty (2018), Eq. (5), per head:

        logit_ij = (Q_i W_q) . Conv_n(K, W_k)_j / sqrt(d_k)
        value_j  = Conv_n(V, W_v)_j

    All orders' keys are as wide as the query, which all orders share: one product of the queries
    with the joined keys gives the logits of all orders.
    """

    @property
    def query_widths(self) -> tuple[int, ...]:
        """Width of all heads' queries: one for all orders."""
        return (self.hidden_size,)

    @property
    def key_widths(self) -> tuple[int, ...]:
        """Width of one head's key of each of `orders`."""
        return (self.head_size,) * len(self.orders)

    def make_key_maps(self) -> list[NgramDense]:
        """Return one convolution for each order."""
        return [
            self.ngram_map(f"key_{order}", order, heads * self.head_size)
            for order, heads in zip(self.orders, self.heads_by_order, strict=True)
        ]

    def make_keys(self, memory: Any, context: NgramContext) -> Cache:
        """Return the keys of the phrases that end in each position of `memory` (B, S, D)."""
        keys = [context.convolve("input", memory, dense) for dense in self.key_maps]
        return {"key": self.join_memory(keys)}

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of what `make_keys` returns."""
        return {"key": self.joined_shape(batch_size, length)}

    def split_queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, d_k)."""
        return self.share_query(self._scaled(rows))

    def logits(self, rows: Any, projected: Cache) -> Any:
        """Return the logits over all orders of `rows` (B, R, D)."""
        return attention_logits(self._scaled(rows), self.read_memory(projected["key"]))

    def _scaled(self, rows: Any) -> Any:
        return split_heads(rows * self.head_size**-0.5, self.num_heads)  # (B, R, H, d_k)
