"""Attention on source tokens and the links of words that follow, with loops, in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from t2t_phrase.layers.attention.layout import AttentionMap, Layout


def source_weights(
    weights: Mapping[str, Sequence[np.ndarray]],
    maps: Mapping[str, AttentionMap],
    partitions: Mapping[str, np.ndarray],
    *,
    length: int,
    layers: Sequence[int] = (),
    heads: Sequence[int] = (),
) -> np.ndarray:
    """Return the attention of all layers and heads on each source token, (B, R, S).

    Args:
        weights: as a model returns them.
        maps: of the model.
        partitions: of the source.
        length: S.
        layers: numbers from 1 on; (): all.
        heads: numbers from 1 on; (): all.
    """
    total = None
    for name, attention in maps.items():
        if attention.rows != "target" or attention.columns != "source":
            continue
        for number, layout in enumerate(attention.layouts, start=1):
            if layers and number not in layers:
                continue
            found = of_layer(
                np.asarray(weights[name][number - 1]), layout, partitions, length, heads
            )
            total = found if total is None else total + found
    return total


def of_layer(
    weights: np.ndarray,
    layout: Layout,
    partitions: Mapping[str, np.ndarray],
    length: int,
    heads: Sequence[int] = (),
) -> np.ndarray:
    """Return (B, R, S) of the weights (B, H, rows, columns) of one layer."""
    if not layout.num_heads:
        weights = weights[:, None]
    batch, head_count, rows, columns = weights.shape
    blocks = len(layout.rows)
    result = np.zeros((batch, rows // blocks, length))
    for b in range(batch):
        for h in range(head_count):
            if heads and h + 1 not in heads:
                continue
            kinds = (layout.columns_by_head[h],) if layout.columns_by_head else layout.columns
            width = columns // len(kinds)
            for r in range(rows):
                for c in range(width * len(kinds)):
                    units, place = kinds[c // width], c % width
                    if units.partition:
                        partition = partitions[units.partition][b]
                        if place >= len(partition):
                            continue
                        tokens = [s for s in range(length) if partition[place, s]]
                    else:
                        tokens = [s for s in range(place - units.order + 1, place + 1) if s >= 0]
                    for s in tokens:
                        result[b, r % (rows // blocks), s] += weights[b, h, r, c] / len(tokens)
    return result
