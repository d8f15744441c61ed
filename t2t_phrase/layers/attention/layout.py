"""What the rows and columns of attention weights are.

Every attention layer has a `layout`, and every model says by `attention_maps` which sentences its
attentions connect; statistics, heat maps and alignments read these, and need no list of families.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

Text = Literal["source", "target", "earlier target"]


@dataclasses.dataclass(frozen=True)
class Units:
    """What a run of rows or columns stands for.

    Attributes:
        order: n-grams of this order, each at the place of its last token; 1: tokens.
        partition: if not empty, the segments of the partition of this name instead, see
            `EncoderDecoder.partitions`.
    """

    order: int = 1
    partition: str = ""


TOKENS = Units()


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of the weights (B, H, R, C) that an attention layer returns.

    Attributes:
        rows: what the R rows are, blocks of equal size one after the other.
        columns: what the C columns are, likewise.
        columns_by_head: if not empty, what the columns are in each of the H heads, instead.
        reaches_back: whether n-grams may begin before the sentence, as if it were padded by zeros.
        has_heads: False: the weights are (B, R, C).
    """

    rows: tuple[Units, ...] = (TOKENS,)
    columns: tuple[Units, ...] = (TOKENS,)
    columns_by_head: tuple[Units, ...] = ()
    reaches_back: bool = False
    has_heads: bool = True

    @property
    def all_columns(self) -> tuple[Units, ...]:
        """Every kind of column, each once, in the order in which they first stand."""
        return tuple(dict.fromkeys(self.columns_by_head or self.columns))

    @property
    def has_ngrams(self) -> bool:
        """Whether n-grams of an order above 1 are among the rows or the columns."""
        return any(units.order > 1 for units in (*self.rows, *self.all_columns))


@dataclasses.dataclass(frozen=True)
class AttentionMap:
    """One kind of attention of a model, over all layers that have it.

    Attributes:
        title: as it stands above pictures and tables, such as "cross-attention".
        rows: whose tokens the rows are made of.
        columns: whose tokens the columns are made of.
        layouts: of each layer's weights.
    """

    title: str
    rows: Text
    columns: Text
    layouts: tuple[Layout, ...]
