"""The interface of methods of n-gram attention: logits from queries and keys."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, NamedTuple

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.layers.ngrams.structure import Structure


class KeyMap(NamedTuple):
    """The arguments of an `NgramDense` that makes keys."""

    name: str
    order: int
    units: int


@dataclasses.dataclass(frozen=True)
class Method(abc.ABC):
    """Base of the methods: makes keys and logits, in any structure.

    A method has no weights; `NgramAttention` holds the maps that a method requests. The shapes are
    those of `Structure`; w_n is the width of a head's key of order n.

    Attributes:
        structure: deals the heads to the orders.
    """

    structure: Structure

    @property
    @abc.abstractmethod
    def query_width(self) -> int:
        """Width of a query for all heads and orders."""

    @property
    @abc.abstractmethod
    def key_widths(self) -> tuple[int, ...]:
        """w_n of each order."""

    @property
    @abc.abstractmethod
    def key_maps(self) -> list[KeyMap]:
        """The maps that make the keys."""

    @abc.abstractmethod
    def make_keys(self, memory: Any, maps: list[NgramDense], context: NgramContext) -> Cache:
        """Return the keys of the n-grams that end at each position of `memory` (B, S, D).

        While decoding, these are the keys that `history_logits` reads, possibly those of tokens.

        Args:
            memory: the tokens.
            maps: the maps described by `key_maps`.
            context: provides the preceding tokens.
        """

    @abc.abstractmethod
    def key_shapes(self, batch_size: Any, length: Any) -> dict[str, tuple[Any, ...]]:
        """Return the shapes of the results of `make_keys` while decoding."""

    @abc.abstractmethod
    def queries(self, rows: Any) -> list[Any]:
        """Return the scaled queries to each order, (B, R, h_n, w_n).

        Args:
            rows: (B, R, `query_width`).
        """

    @abc.abstractmethod
    def logits(self, rows: Any, keys: Cache) -> Any:
        """Return the joined logits of all orders.

        Args:
            rows: (B, R, `query_width`).
            keys: from `make_keys`.
        """

    def history_logits(self, rows: Any, history: Cache, visible: Any) -> Any:
        """Return the joined logits of all orders for the n-grams of a history.

        Args:
            rows: (B, R, `query_width`).
            history: the keys that `make_keys` returned in all steps.
            visible: (B, 1, K, S) bool from `ops.masks.history_mask`.
        """
        del visible
        return self.logits(rows, history)
