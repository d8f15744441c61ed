"""The QueryK method: the query is the kernel that convolves the keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.method import KeyMap, Method
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.attention import attention_logits, split_heads
from t2t_phrase.ops.history_ngrams import history_ngram_logits


@dataclasses.dataclass(frozen=True)
class QueryK(Method):
    """Query-as-kernel convolution.

    Nguyen and Joty (2018), Eq. (6), per head:

        logit_ij = sum_{t=0}^{n-1} (Q_i W_q[t]) . (K_{j-n+1+t} W_k) / sqrt(d_k n)
        value_j  = Conv_n(V, W_v)_j

    With the n keys of an n-gram side by side, a logit is one dot product of $n d_k$ numbers. A
    history, which each decoding step reads and copies, holds only the keys of single tokens;
    `history_ngram_logits` adds their products along the tokens of each beam.

    Attributes:
        share_key_projection: whether all orders share one W_k; False: each has its own W_k,n.
    """

    share_key_projection: bool = True

    @property
    def query_width(self) -> int:
        """$sum_n h_n n d_k$: the kernels of all orders side by side."""
        return sum(self._query_widths)

    @property
    def key_widths(self) -> tuple[int, ...]:
        """$n d_k$ for each order n."""
        return tuple(order * self.structure.head_size for order in self.structure.orders)

    @property
    def key_maps(self) -> list[KeyMap]:
        """W_k: one map of tokens to keys, or one for each order."""
        width = self.structure.num_heads * self.structure.head_size
        if self.share_key_projection:
            return [KeyMap("key", 1, width)]
        return [KeyMap(f"key_{order}", 1, width) for order in self.structure.orders]

    def make_keys(self, memory: Any, maps: list[NgramDense], context: NgramContext) -> Cache:
        """Return "key_n" for each order n: the keys of its n tokens, (B, h_n, n d_k, S).

        While decoding, these are the keys of the last token only, (B, h_n, d_k, S); if they are the
        same for all orders, there is a single "key".
        """
        structure = self.structure
        keys = [split_heads(context.convolve(memory, dense), structure.num_heads) for dense in maps]
        if self.share_key_projection:
            keys = structure.deal_heads(keys[0])
        if context.decoding:
            return {
                name: ops.transpose(key, (0, 2, 3, 1))
                for name, key in zip(self._history_names, keys, strict=True)
            }
        return {
            f"key_{order}": _key_windows(key, order, context)
            for order, key in zip(structure.orders, keys, strict=True)
        }

    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of the results of `make_keys` while decoding."""
        structure = self.structure
        return {
            name: (batch_size, heads, structure.head_size, length)
            for name, heads in zip(self._history_names, structure.heads_by_order, strict=True)
        }

    @property
    def _history_names(self) -> list[str]:
        """The name of the keys that each order reads in a history."""
        structure = self.structure
        everywhere = all(heads == structure.num_heads for heads in structure.heads_by_order)
        if self.share_key_projection and everywhere:
            return ["key"] * len(structure.orders)
        return [f"key_{order}" for order in structure.orders]

    def queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, n d_k)."""
        return [
            query * width**-0.5
            for query, width in zip(self._kernels(rows), self.key_widths, strict=True)
        ]

    def logits(self, rows: Any, keys: Cache) -> Any:
        """Return the joined logits of all orders, Eq. (6)."""
        return self._joined(
            attention_logits(kernel, keys[f"key_{order}"])
            for kernel, order in zip(self._kernels(rows), self.structure.orders, strict=True)
        )

    def history_logits(self, rows: Any, history: Cache, visible: Any) -> Any:
        """Return the joined logits of all orders, Eq. (6), for the n-grams of a history."""
        return self._joined(
            history_ngram_logits(kernel, history[name], visible)
            for kernel, name in zip(self._kernels(rows), self._history_names, strict=True)
        )

    def _joined(self, by_order: Iterable[Any]) -> Any:
        # There are fewer logits than numbers in the queries, so scaling the logits costs less.
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


def _key_windows(key: Any, order: int, context: NgramContext) -> Any:
    """Return the keys of n tokens side by side, (B, h, n d_k, S), from (B, S, h, d_k)."""
    windows = context.unfold(ops.transpose(key, (0, 2, 1, 3)), order)
    return ops.transpose(windows, (0, 1, 3, 2))
