"""The ConvKV method: keys and values are convolutions of the memory."""

from __future__ import annotations

import dataclasses
from typing import Any

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.method import KeyMap, Method
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.attention import attention_logits, split_heads


@dataclasses.dataclass(frozen=True)
class ConvKV(Method):
    """Key-value convolution.

    Nguyen and Joty (2018), Eq. (5), per head:

        logit_ij = (Q_i W_q) . Conv_n(K, W_k)_j / sqrt(d_k)
        value_j  = Conv_n(V, W_v)_j

    The keys of all orders are as wide as the query, which all orders share: one product of the
    queries with the joined keys gives the logits of all orders.
    """

    @property
    def query_width(self) -> int:
        """D: one query for all orders."""
        return self.structure.num_heads * self.structure.head_size

    @property
    def key_widths(self) -> tuple[int, ...]:
        """d_k for each order."""
        return (self.structure.head_size,) * len(self.structure.orders)

    @property
    def key_maps(self) -> list[KeyMap]:
        """W_k: one convolution for each order."""
        structure = self.structure
        return [
            KeyMap(f"key_{order}", order, heads * structure.head_size)
            for order, heads in zip(structure.orders, structure.heads_by_order, strict=True)
        ]

    def make_keys(self, memory: Any, maps: list[NgramDense], context: NgramContext) -> Cache:
        """Return "key", $Conv_n(K, W_k)$ of all orders joined."""
        keys = [context.convolve(memory, dense) for dense in maps]
        return {"key": self.structure.join_keys(keys)}

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of the results of `make_keys` while decoding."""
        structure = self.structure
        heads, width = structure.num_heads, structure.head_size
        return {"key": (batch_size, heads, width, *structure.joined_orders, length)}

    def queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, d_k)."""
        return self.structure.deal_heads(self._scaled(rows))

    def logits(self, rows: Any, keys: Cache) -> Any:
        """Return the joined logits of all orders, Eq. (5)."""
        return attention_logits(self._scaled(rows), self.structure.read_keys(keys["key"]))

    def _scaled(self, rows: Any) -> Any:
        scaled = rows * self.structure.head_size**-0.5
        return split_heads(scaled, self.structure.num_heads)  # (B, R, H, d_k)
