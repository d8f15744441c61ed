"""The heterogeneous structure: each head attends to n-grams of all orders at once."""

from __future__ import annotations

import dataclasses
from typing import Any

from keras import ops

from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.layers.ngrams.structure import Structure
from t2t_phrase.ops.attention import split_key_heads, split_value_heads
from t2t_phrase.ops.ngram_masks import ngram_memory_mask


@dataclasses.dataclass(frozen=True)
class Heterogeneous(Structure):
    """Each head has one softmax over the n-grams of all orders.

    Nguyen and Joty (2018), Section 3.2.2 and the concatenations of Eq. (7) and (8). Nothing is
    padded: an n-gram must lie within the sentence. The attention weights are (B, H, T, N S), one
    block of S columns for each order; within a block, column j is the n-gram that ends at token j.
    """

    @property
    def heads_by_order(self) -> tuple[int, ...]:
        """H for each order."""
        return (self.num_heads,) * len(self.orders)

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        return Layout(num_heads=self.num_heads, columns=tuple(map(Units, self.orders)))

    def deal_heads(self, x: Any) -> list[Any]:
        """Return all of `x` (B, R, H, d_k) for each order."""
        return [x] * len(self.orders)

    def join_logits(self, by_order: list[Any]) -> Any:
        """Return (B, H, R, N S) from each order's (B, H, R, S)."""
        return ops.concatenate(by_order, axis=-1)

    def split_weights(self, weights: Any) -> list[Any]:
        """Return each order's (B, H, R, S) from (B, H, R, N S)."""
        return list(ops.split(weights, len(self.orders), axis=-1))

    def join_context(self, by_order: list[Any]) -> Any:
        """Return (B, R, H, d_k), the sum over orders."""
        return sum(by_order[1:], start=by_order[0])

    def join_keys(self, by_order: list[Any]) -> Any:
        """Return (B, H, d_k, N, S) from each order's (B, S, D)."""
        joined = split_key_heads(ops.concatenate(by_order, axis=1), self.num_heads)
        batch, heads, width, _ = ops.shape(joined)
        length = ops.shape(by_order[0])[1]
        return ops.reshape(joined, (batch, heads, width, len(self.orders), length))

    def join_values(self, by_order: list[Any]) -> Any:
        """Return (B, H, N, S, d_k) from each order's (B, S, D)."""
        joined = split_value_heads(ops.concatenate(by_order, axis=1), self.num_heads)
        batch, heads, _, width = ops.shape(joined)
        length = ops.shape(by_order[0])[1]
        return ops.reshape(joined, (batch, heads, len(self.orders), length, width))

    @property
    def joined_orders(self) -> tuple[int, ...]:
        """N."""
        return (len(self.orders),)

    def read_keys(self, joined: Any) -> Any:
        """Return (B, H, d_k, N S)."""
        batch, heads, width, count, length = ops.shape(joined)
        return ops.reshape(joined, (batch, heads, width, count * length))

    def read_values(self, joined: Any) -> Any:
        """Return (B, H, N S, d_k)."""
        batch, heads, count, length, width = ops.shape(joined)
        return ops.reshape(joined, (batch, heads, count * length, width))

    def mask(
        self,
        attention_mask: Any | None,
        positions: Any,
        length: Any,
        beam_size: int,
        memory_positions: Any | None = None,
    ) -> Any | None:
        """Return a mask broadcastable to (B, H, T, N S)."""
        del positions
        return ngram_memory_mask(
            attention_mask, self.orders, length, beam_size, memory_positions=memory_positions
        )
