"""A plot of n-gram precision by order, as in Figure 2 of Hao et al. (2019)."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from t2t_phrase.evaluation.ngram_precision import NgramPrecisions, OrderPrecision

# Inches.
SIZE = (4.8, 3.2)
DPI = 160
SIGNIFICANT = 0.05
COLOUR = "#1f5fa8"


def ngram_plot(found: NgramPrecisions) -> Figure:
    """Return the figure: by order, the difference from the baseline, or the precision without one.

    Orders without a value have no point. Differences with p below SIGNIFICANT are filled circles,
    the others are empty circles.
    """
    figure = Figure(figsize=SIZE, dpi=DPI)
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    points = [(row, _value(row, found)) for row in found.orders]
    shown = [(row, value) for row, value in points if value is not None]
    orders, values = [row.order for row, _ in shown], [value for _, value in shown]
    ax.plot(orders, values, color=COLOUR, linewidth=1.2)
    if found.compared:
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        for label, filled in ((f"p < {SIGNIFICANT}", True), ("not significant", False)):
            group = [pair for pair in shown if _is_significant(pair[0]) == filled]
            if group:
                ax.plot(
                    [row.order for row, _ in group],
                    [value for _, value in group],
                    "o",
                    color=COLOUR,
                    markerfacecolor=COLOUR if filled else "white",
                    label=label,
                )
        if shown:
            ax.legend(fontsize=8)
        ax.set_ylabel("difference from the baseline")
    else:
        ax.plot(orders, values, "o", color=COLOUR)
        ax.set_ylabel("n-gram precision (%)")
    ax.set_xlabel("order of the n-grams")
    ax.set_xlim(0.5, len(found.orders) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def _value(row: OrderPrecision, found: NgramPrecisions) -> float | None:
    return row.difference if found.compared else row.precision


def _is_significant(row: OrderPrecision) -> bool:
    return row.p_value is not None and row.p_value < SIGNIFICANT
