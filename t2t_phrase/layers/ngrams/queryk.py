"""The QueryK method: the query is the kernel that convolves the keys."""

from __future__ import annotations

import dataclasses
from typing import Any

from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.method import KeyMap, Method
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.attention import attention_logits, split_heads


@dataclasses.dataclass(frozen=True)
class QueryK(Method):
    """Query-as-kernel convolution.

    Nguyen and Joty (2018), Eq. (6), per head:

        logit_ij = sum_{t=0}^{n-1} (Q_i W_q[t]) . (K_{j-n+1+t} W_k) / sqrt(d_k n)
        value_j  = Conv_n(V, W_v)_j

    With the n keys of an n-gram side by side, a logit is one dot product of n d_k numbers. Where
    every head reads every order by one W_k, the keys of the longest n-grams end with those of all
    shorter ones. While decoding, only these are kept: each step reads and copies the history, which
    takes longer than products with the zeros that then stand before shorter queries.

    Attributes:
        share_key_projection: whether all orders share one W_k; False: each has a W_k,n of its own.
    """

    share_key_projection: bool = True

    @property
    def query_width(self) -> int:
        """sum_n h_n n d_k: the kernels of all orders side by side."""
        return sum(self._query_widths)

    @property
    def key_widths(self) -> tuple[int, ...]:
        """n d_k for each order n."""
        return tuple(order * self.structure.head_size for order in self.structure.orders)

    @property
    def key_maps(self) -> list[KeyMap]:
        """W_k: one map of tokens to keys, or one for each order."""
        width = self.structure.num_heads * self.structure.head_size
        if self.share_key_projection:
            return [KeyMap("key", 1, width)]
        return [KeyMap(f"key_{order}", 1, width) for order in self.structure.orders]

    def make_keys(self, memory: Any, maps: list[NgramDense], context: NgramContext) -> Cache:
        """Return "key_n" (B, h_n, n d_k, S) for each order n: the keys of its n tokens.

        While decoding, there may be only those of the longest n-grams.
        """
        structure = self.structure
        keys = [
            split_heads(context.convolve(dense.name, memory, dense), structure.num_heads)
            for dense in maps
        ]
        if self.share_key_projection:
            keys = structure.deal_heads(keys[0])
        return {
            f"key_{order}": context.unfold_heads(f"key_{order}", own, order)
            for order, own in zip(structure.orders, keys, strict=True)
            if not context.decoding or order in self._kept_orders
        }

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of what `make_keys` returns while decoding."""
        return {
            f"key_{order}": (batch_size, heads, width, length)
            for order, heads, width in zip(
                self.structure.orders, self.structure.heads_by_order, self.key_widths, strict=True
            )
            if order in self._kept_orders
        }

    def recent_key_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of the last n - 1 tokens' keys for each order n > 1 that is kept."""
        structure = self.structure
        return {
            f"key_{order}": (order - 1, heads, structure.head_size)
            for order, heads in zip(structure.orders, structure.heads_by_order, strict=True)
            if order > 1 and order in self._kept_orders
        }

    @property
    def _kept_orders(self) -> tuple[int, ...]:
        """The orders whose keys are kept while decoding."""
        structure = self.structure
        everywhere = all(heads == structure.num_heads for heads in structure.heads_by_order)
        if self.share_key_projection and everywhere:
            return structure.orders[-1:]
        return structure.orders

    def queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, n d_k)."""
        return [
            query * width**-0.5
            for query, width in zip(self._kernels(rows), self.key_widths, strict=True)
        ]

    def logits(self, rows: Any, keys: Cache) -> Any:
        """Return the joined logits of all orders, Eq. (6)."""
        kernels, orders = self._kernels(rows), self.structure.orders
        if all(f"key_{order}" in keys for order in orders):
            by_order = [
                attention_logits(kernel, keys[f"key_{order}"])
                for kernel, order in zip(kernels, orders, strict=True)
            ]
        else:
            by_order = _logits_of_longest(kernels, keys[f"key_{orders[-1]}"])
        # Logits are fewer than the numbers in the queries, so scaling them costs less.
        return self.structure.join_logits(
            [logits * width**-0.5 for logits, width in zip(by_order, self.key_widths, strict=True)]
        )

    @property
    def _query_widths(self) -> list[int]:
        return [
            heads * width
            for heads, width in zip(self.structure.heads_by_order, self.key_widths, strict=True)
        ]

    def _kernels(self, rows: Any) -> list[Any]:
        """Return Q_i W_q of each order, (B, R, h_n, n d_k)."""
        batch, length, _ = ops.shape(rows)
        widths = self._query_widths
        ends = [sum(widths[: place + 1]) for place in range(len(widths) - 1)]
        parts = ops.split(rows, ends, axis=-1) if ends else [rows]
        return [
            ops.reshape(part, (batch, length, heads, width))
            for part, heads, width in zip(
                parts, self.structure.heads_by_order, self.key_widths, strict=True
            )
        ]


def _logits_of_longest(kernels: list[Any], keys: Any) -> list[Any]:
    """Return the unscaled logits of each order, (B, H, R, S).

    Args:
        kernels: of each order, (B, R, H, n d_k).
        keys: of the longest n-grams, (B, H, n d_k, S).
    """
    width = keys.shape[2]
    padded = [
        ops.pad(kernel, [(0, 0), (0, 0), (0, 0), (width - kernel.shape[-1], 0)])
        for kernel in kernels
    ]
    logits = attention_logits(ops.concatenate(padded, axis=1), keys)  # (B, H, N R, S)
    return list(ops.split(logits, len(kernels), axis=2))
