"""The meaning of the rows and columns of attention weights.

Every attention layer has a `layout`, and every model describes its attentions by `attention_maps`.
Statistics, heat maps and alignments read these and need not know the kinds of attention.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

Text = Literal["source", "target", "earlier target"]


@dataclasses.dataclass(frozen=True)
class Units:
    """The units that a block of rows or columns stands for.

    Attributes:
        order: n-grams of this order, each at the position of its last token; 1: tokens.
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
        num_heads: H; 0: the weights are (B, R, C).
        rows: the units of the R rows, in blocks of equal size.
        columns: the units of the C columns, likewise.
        columns_by_head: if not empty, the units of the columns of each of the H heads, instead of
            `columns`; a head with fewer than C columns uses the first ones.
        reaches_back: whether n-grams may begin before the sentence, which is padded with zeros.
    """

    num_heads: int
    rows: tuple[Units, ...] = (TOKENS,)
    columns: tuple[Units, ...] = (TOKENS,)
    columns_by_head: tuple[Units, ...] = ()
    reaches_back: bool = False

    @property
    def all_columns(self) -> tuple[Units, ...]:
        """Every kind of column once, in order of appearance."""
        return tuple(dict.fromkeys(self.columns_by_head or self.columns))


@dataclasses.dataclass(frozen=True)
class AttentionMap:
    """One kind of attention of a model, in all layers that have it.

    Attributes:
        title: heading of pictures and tables, such as "cross-attention".
        rows: the text that the rows stand for.
        columns: the text that the columns stand for.
        layouts: the layouts of the weights of each layer.
    """

    title: str
    rows: Text
    columns: Text
    layouts: tuple[Layout, ...]
