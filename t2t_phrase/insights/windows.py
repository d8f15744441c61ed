"""Windows of local attention in a heat map: their outlines, and the Gaussians within them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from t2t_phrase.layers.luong.window import Windows

COLOUR = "tab:red"
# The height of a Gaussian at p_t, as a fraction of the height of a row.
HEIGHT = 0.9
# Points of a curve within the width of a cell.
POINTS = 8


def of_sentence(windows: Windows, row: int) -> Windows:
    """Return the windows of one sentence of a batch, as arrays without the axis B."""
    return windows._replace(
        centre=np.asarray(windows.centre)[row], aligned=np.asarray(windows.aligned)[row]
    )


def draw_windows(ax: Axes, windows: Windows, length: int) -> None:
    """Outline the window of each query, and draw its Gaussian or a line at p_t.

    Args:
        ax: axes with a row of cells for each query; cell centres have integer coordinates.
        windows: of one sentence.
        length: of the source; the parts of windows outside it are not drawn.
    """
    for row, (centre, aligned) in enumerate(zip(windows.centre, windows.aligned, strict=True)):
        first = max(int(centre) - windows.radius, 0)
        last = min(int(centre) + windows.radius, length - 1)
        width = last - first + 1
        outline = Rectangle((first - 0.5, row - 0.5), width, 1.0)
        outline.set(fill=False, edgecolor=COLOUR, linewidth=0.8)
        ax.add_patch(outline)
        if windows.deviation is None:
            ax.plot([aligned, aligned], [row + 0.5, row - 0.5], color=COLOUR, linewidth=0.6)
            continue
        place = np.linspace(first - 0.5, last + 0.5, width * POINTS + 1)
        curve = np.exp(-((place - float(aligned)) ** 2) / (2 * windows.deviation**2))
        ax.plot(place, row + 0.5 - HEIGHT * curve, color=COLOUR, linewidth=0.8)
    # Lines at the border would move the limits.
    ax.set_xlim(-0.5, length - 0.5)
    ax.set_ylim(len(windows.centre) - 0.5, -0.5)
