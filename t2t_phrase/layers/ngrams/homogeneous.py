"""The homogeneous structure: each head attends to phrases of one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keras import ops

from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention
from t2t_phrase.ops.attention import split_memory_heads


class Homogeneous(NgramAttention):
    """Base of attention whose heads are dealt to orders.

    Nguyen and Joty (2018), Section 3.2.1. Sentences are padded by zeros at the left, so that there
    is a phrase at each token whatever its order.

    Args:
        head_counts: how many heads attend to each of `orders`; their sum is `num_heads`.
        **kwargs: as for `NgramAttention`.

    Raises:
        ValueError: `head_counts` do not fit `orders` or `num_heads`.
    """

    def __init__(self, *, head_counts: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if len(head_counts) != len(self.orders) or min(head_counts) < 1:
            raise ValueError(
                f"head_counts must name at least one head for each of the orders {self.orders}, "
                f"got {tuple(head_counts)}."
            )
        if sum(head_counts) != self.num_heads:
            raise ValueError(
                f"head_counts {tuple(head_counts)} must add up to num_heads, got {self.num_heads}."
            )
        self.head_counts = tuple(head_counts)

    @property
    def heads_by_order(self) -> tuple[int, ...]:
        """How many heads attend to each of `orders`."""
        return self.head_counts

    def split_heads_by_order(self, x: Any, axis: int) -> list[Any]:
        """Return the heads of each order of `x`, which has all heads on `axis`."""
        if len(self.orders) == 1:
            return [x]
        ends = [sum(self.head_counts[: place + 1]) for place in range(len(self.orders) - 1)]
        return list(ops.split(x, ends, axis=axis))

    def share_query(self, query: Any) -> list[Any]:
        """Return the heads of each order of (B, R, H, d_k)."""
        return self.split_heads_by_order(query, axis=2)

    def join_logits(self, by_order: list[Any]) -> Any:
        """Return (B, H, R, S) from each order's (B, h_n, R, S)."""
        return ops.concatenate(by_order, axis=1)

    def split_weights(self, weights: Any) -> list[Any]:
        """Return each order's (B, h_n, R, S) from (B, H, R, S)."""
        return self.split_heads_by_order(weights, axis=1)

    def join_context(self, by_order: list[Any]) -> Any:
        """Return (B, R, H, d_k) from each order's (B, R, h_n, d_k)."""
        return ops.concatenate(by_order, axis=2)

    def join_memory(self, by_order: list[Any]) -> Any:
        """Return (B, H, S, d_k) from each order's (B, S, h_n d_k)."""
        return split_memory_heads(ops.concatenate(by_order, axis=-1), self.num_heads)

    def joined_shape(self, batch_size: Any, length: Any) -> tuple[Any, ...]:
        """Return the shape of `join_memory`'s result."""
        return (batch_size, self.num_heads, length, self.head_size)

    def read_memory(self, joined: Any) -> Any:
        """Return (B, H, S, d_k), which is what is kept."""
        return joined

    def phrase_mask(
        self, attention_mask: Any | None, positions: Any, length: Any, beam_size: int
    ) -> Any | None:
        """Return the mask over tokens: each has a phrase of every order."""
        del positions, length, beam_size
        return attention_mask

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "head_counts": self.head_counts}
