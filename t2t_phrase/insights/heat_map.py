"""A heat map of attention: one block for each kind of queries and keys.

Nguyen and Joty (2018), Figures 4 to 6: token-to-token, token-to-phrase, phrase-to-token and
phrase-to-phrase attention at the upper left, upper right, lower left and lower right.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from t2t_phrase.figure_fonts import installed_families
from t2t_phrase.insights.windows import draw_windows
from t2t_phrase.layers.luong.window import Windows

# Inches.
CELL, LARGEST_CELL, SHORTEST_SIDE, LONGEST_SIDE = 0.19, 0.5, 3.0, 40.0
GAP, HEADING, BAR = 0.09, 0.38, 0.14
DPI = 160


@dataclasses.dataclass(frozen=True)
class Group:
    """Rows or columns of one kind.

    Attributes:
        kind: their name, such as "tokens" or "2-grams".
        labels: one for each row or column.
        spans: the first and the last token of each; (): they do not stand for tokens.
    """

    kind: str
    labels: Sequence[str]
    spans: Sequence[tuple[int, int]] = ()


def heat_map(
    blocks: Sequence[Sequence[np.ndarray]],
    queries: Sequence[Group],
    keys: Sequence[Group],
    *,
    title: str = "",
    query_side: str = "",
    key_side: str = "",
    windows: Windows | None = None,
) -> Figure:
    """Return the figure of one head, or of the mean over heads.

    All cells are squares of the same size, and all blocks share one colour scale, which starts at
    0. The figure has axes for each block, row by row, and then for the scale.

    Args:
        blocks: in row m, column n the weights (T_m, S_n) from queries m to keys n.
        queries: the rows of the blocks.
        keys: the columns of the blocks.
        title: printed above the figure.
        query_side: the text of the queries, such as "target".
        key_side: the text of the keys.
        windows: of one sentence, without the batch axis, to be outlined in a figure of one block,
            with their Gaussians if there are any.
    """
    rows, columns = ([len(group.labels) for group in side] for side in (queries, keys))
    cell = max(CELL, min(LARGEST_CELL, SHORTEST_SIDE / min(sum(rows), sum(columns))))
    cell = min(cell, LONGEST_SIDE / max(sum(rows), sum(columns)))
    width = sum(columns) * cell + GAP * (len(columns) - 1)
    height = sum(rows) * cell + GAP * (len(rows) - 1)
    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    font: dict[str, Any] = {"family": installed_families(), "parse_math": False}
    head: dict[str, Any] = {**font, "fontsize": 9, "multialignment": "center"}
    small: dict[str, Any] = {**font, "fontsize": min(9.0, 72 * cell * 0.58)}
    highest = max(float(block.max()) for row in blocks for block in row)
    top = height
    for m, row in enumerate(blocks):
        left = 0.0
        for n, block in enumerate(row):
            size = (columns[n] * cell, rows[m] * cell)
            place = (left / width, (top - size[1]) / height, size[0] / width, size[1] / height)
            ax = figure.add_axes(place)
            mesh = _draw(ax, block, highest or 1.0)
            if windows is not None:
                draw_windows(ax, windows, columns[n])
            left += size[0] + GAP
            if n == 0:
                ax.set_yticks(range(rows[m]), queries[m].labels, **small)
            if n == len(row) - 1:
                heading = f"from {query_side}\n{queries[m].kind}"
                at = (size[0] + GAP / 2) / size[0]
                ax.text(at, 0.5, heading, rotation=270, transform=ax.transAxes, va="center", **head)
            if m == 0:
                at = (size[1] + GAP / 2) / size[1]
                heading = f"to {key_side}\n{keys[n].kind}"
                ax.text(0.5, at, heading, transform=ax.transAxes, ha="center", **head)
            if m == len(blocks) - 1:
                ax.set_xticks(range(columns[n]), keys[n].labels, rotation=90, **small)
        top -= rows[m] * cell + GAP
    bar_height = min(height, 2.0)
    # Leave space for the headings.
    left = width + GAP + HEADING
    bar = figure.add_axes((left / width, 1 - bar_height / height, BAR / width, bar_height / height))
    figure.colorbar(mesh, cax=bar).ax.tick_params(labelsize=8)
    above = 1 + (GAP + HEADING) / height
    figure.suptitle(title, x=0.0, y=above, ha="left", va="bottom", fontsize=10, **font)
    return figure


def _draw(ax: Axes, block: np.ndarray, highest: float) -> Any:
    mesh = ax.imshow(
        block, cmap="Blues", vmin=0.0, vmax=highest, aspect="auto", interpolation="nearest"
    )
    ax.set_xticks([])
    ax.set_yticks([])
    rows, columns = block.shape
    lines: dict[str, Any] = {"colors": "0.9", "linewidth": 0.4}
    ax.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, **lines)
    ax.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, **lines)
    ax.tick_params(length=0, pad=2)
    for spine in ax.spines.values():
        spine.set_linewidth(0.6)
    return mesh
