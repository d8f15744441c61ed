"""Attention weights cut into blocks, one for each kind of row and column."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.layers.attention.layout import Layout


def split_blocks(weights: Any, layout: Layout) -> list[list[Any]]:
    """Return the weights from `layout.rows` to `layout.all_columns`, block by block.

    Args:
        weights: (B, H, R, C) as the layer returns them; a NumPy array or a tensor.
        layout: the layout of these weights.

    Returns:
        In row m, column n, the weights (B, h, R_m, C_n) of all heads that have such columns.
    """
    rows = ops.shape(weights)[2] // len(layout.rows)
    kinds = layout.all_columns
    if layout.columns_by_head:
        heads = [
            np.flatnonzero([own == units for own in layout.columns_by_head]) for units in kinds
        ]
        by_columns = [ops.take(weights, own, axis=1) for own in heads]
    else:
        width = ops.shape(weights)[3] // len(kinds)
        by_columns = [weights[..., n * width : (n + 1) * width] for n in range(len(kinds))]
    return [
        [block[:, :, m * rows : (m + 1) * rows] for block in by_columns]
        for m in range(len(layout.rows))
    ]
