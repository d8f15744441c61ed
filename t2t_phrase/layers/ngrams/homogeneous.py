"""The homogeneous structure: each head attends to n-grams of one order."""

from __future__ import annotations

import dataclasses
from typing import Any

from keras import ops

from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.layers.ngrams.structure import Structure
from t2t_phrase.ops.attention import split_key_heads, split_value_heads


@dataclasses.dataclass(frozen=True)
class Homogeneous(Structure):
    """Each head attends to n-grams of one order.

    Nguyen and Joty (2018), Section 3.2.1. The sentence is padded with zeros on the left, so an
    n-gram of every order ends at each token. The attention weights are (B, H, T, S).

    Attributes:
        head_counts: h_n, the number of heads for each of `orders`; their sum is H.

    Raises:
        ValueError: `head_counts` do not match `orders` or `num_heads`.
    """

    head_counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.head_counts) != len(self.orders) or min(self.head_counts) < 1:
            raise ValueError(
                f"head_counts must give at least one head to each of the orders {self.orders}, "
                f"got {self.head_counts}."
            )
        if sum(self.head_counts) != self.num_heads:
            raise ValueError(
                f"head_counts {self.head_counts} must add up to num_heads, got {self.num_heads}."
            )

    @property
    def heads_by_order(self) -> tuple[int, ...]:
        """h_n of each order."""
        return self.head_counts

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights: each head has the n-grams of its own order."""
        by_head = [
            Units(order)
            for order, heads in zip(self.orders, self.head_counts, strict=True)
            for _ in range(heads)
        ]
        return Layout(num_heads=self.num_heads, columns_by_head=tuple(by_head), reaches_back=True)

    def deal_heads(self, x: Any) -> list[Any]:
        """Return the heads of each order, (B, R, h_n, d_k), of `x` (B, R, H, d_k)."""
        return self._split(x, axis=2)

    def join_logits(self, by_order: list[Any]) -> Any:
        """Return (B, H, R, S) from each order's (B, h_n, R, S)."""
        return ops.concatenate(by_order, axis=1)

    def split_weights(self, weights: Any) -> list[Any]:
        """Return each order's (B, h_n, R, S) from (B, H, R, S)."""
        return self._split(weights, axis=1)

    def join_context(self, by_order: list[Any]) -> Any:
        """Return (B, R, H, d_k) from each order's (B, R, h_n, d_k)."""
        return ops.concatenate(by_order, axis=2)

    def join_keys(self, by_order: list[Any]) -> Any:
        """Return (B, H, d_k, S) from each order's (B, S, h_n d_k)."""
        return split_key_heads(ops.concatenate(by_order, axis=-1), self.num_heads)

    def join_values(self, by_order: list[Any]) -> Any:
        """Return (B, H, S, d_k) from each order's (B, S, h_n d_k)."""
        return split_value_heads(ops.concatenate(by_order, axis=-1), self.num_heads)

    def mask(
        self,
        attention_mask: Any | None,
        positions: Any,
        length: Any,
        beam_size: int,
        memory_positions: Any | None = None,
    ) -> Any | None:
        """Return the mask over tokens: an n-gram of every order ends at each of them."""
        del positions, length, beam_size, memory_positions
        return attention_mask

    def _split(self, x: Any, axis: int) -> list[Any]:
        if len(self.orders) == 1:
            return [x]
        ends = [sum(self.head_counts[: place + 1]) for place in range(len(self.orders) - 1)]
        return list(ops.split(x, ends, axis=axis))
