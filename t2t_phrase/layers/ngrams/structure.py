"""The interface of structures of n-gram attention: which n-grams share one softmax."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense


@dataclasses.dataclass(frozen=True)
class Structure(abc.ABC):
    """Base of the structures: deals heads to orders and joins the orders into one softmax.

    A structure has no weights; `NgramAttention` combines it with a method, `ConvKV` or `QueryK`.

    Shapes: B batch, T queries, R rows of queries (T for each query order), S memory positions,
    H heads, h_n heads that attend to order n, d_k width of a head, $D = H d_k$, N orders of the
    memory.

    Attributes:
        num_heads: H.
        head_size: d_k.
        orders: of the n-grams in the memory, ascending.
    """

    num_heads: int
    head_size: int
    orders: tuple[int, ...]

    @property
    def query_orders(self) -> tuple[int, ...]:
        """Orders of the query n-grams."""
        return (1,)

    @property
    def can_decode(self) -> bool:
        """Whether no output depends on later queries."""
        return True

    @property
    @abc.abstractmethod
    def heads_by_order(self) -> tuple[int, ...]:
        """h_n of each order."""

    @property
    @abc.abstractmethod
    def layout(self) -> Layout:
        """The layout of the attention weights."""

    @abc.abstractmethod
    def deal_heads(self, x: Any) -> list[Any]:
        """Return the heads of each order, (B, R, h_n, d_k), of `x` (B, R, H, d_k)."""

    @abc.abstractmethod
    def join_logits(self, by_order: list[Any]) -> Any:
        """Return the logits of one softmax from those of each order, (B, h_n, R, S)."""

    @abc.abstractmethod
    def split_weights(self, weights: Any) -> list[Any]:
        """Return the weights of each order, (B, h_n, R, S): the inverse of `join_logits`."""

    @abc.abstractmethod
    def join_context(self, by_order: list[Any]) -> Any:
        """Return (B, R, H, d_k) from the context of each order, (B, R, h_n, d_k)."""

    @abc.abstractmethod
    def join_keys(self, by_order: list[Any]) -> Any:
        """Return the keys to cache, (B, H, d_k, ..., S).

        Args:
            by_order: (B, S, h_n d_k) for each order.
        """

    @abc.abstractmethod
    def join_values(self, by_order: list[Any]) -> Any:
        """Return the values to cache, (B, H, ..., S, d_k).

        Args:
            by_order: (B, S, h_n d_k) for each order.
        """

    @property
    def joined_orders(self) -> tuple[int, ...]:
        """The axes before S of the results of `join_keys` and `join_values`: nothing or N."""
        return ()

    def read_keys(self, joined: Any) -> Any:
        """Return the result of `join_keys` as the softmax reads it, (B, H, d_k, S or N S)."""
        return joined

    def read_values(self, joined: Any) -> Any:
        """Return the result of `join_values` as the softmax reads it, (B, H, S or N S, d_k)."""
        return joined

    @abc.abstractmethod
    def mask(
        self,
        attention_mask: Any | None,
        positions: Any,
        length: Any,
        beam_size: int,
        memory_positions: Any | None = None,
    ) -> Any | None:
        """Return the mask over n-grams, broadcastable to the joined logits.

        Args:
            attention_mask: bool over tokens, broadcastable to (B, H, T, S); None = everywhere.
            positions: (T,) int, positions of the queries; (B, T) where rows hold several sentences.
            length: S.
            beam_size: number of entries of the memory at each position.
            memory_positions: (B, S) int, where rows hold several sentences.
        """

    @property
    def output_order(self) -> int:
        """The number of head results, each D wide, that an output combines."""
        return 1

    def output(self, results: Any, output_map: NgramDense, context: NgramContext) -> Any:
        """Return (B, T, D) from the heads' results (B, R, D).

        Args:
            results: (B, R, D).
            output_map: the map of order `output_order`.
            context: the context of the queries.
        """
        return context.convolve(results, output_map)
