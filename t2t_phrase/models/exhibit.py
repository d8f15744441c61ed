"""Exhibits: matrices that a model shows of a sentence pair beside its attention weights.

Shapes: B batch, R rows, C columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from t2t_phrase.layers.attention.layout import Text


class Exhibit(NamedTuple):
    """A matrix of weights or probabilities.

    Attributes:
        title: heading of pictures and tables, such as "alignment head".
        rows: the text whose tokens the rows are, or the name of each row.
        columns: the text whose tokens the columns are, or the name of each column.
        values: (B, R, C) float32, in [0, 1]; a row need not add up to 1.
        pruned: whether each row holds the probabilities of source positions that a search prunes,
            see `alignment_threshold` of `DecodeHParams`.
        chosen: (B, R) int, the column that was chosen in each row; None: there is no choice.
    """

    title: str
    rows: Text | tuple[str, ...]
    columns: Text | tuple[str, ...]
    values: Any
    pruned: bool = False
    chosen: Any | None = None
