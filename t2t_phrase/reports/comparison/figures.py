"""The figures of a comparison: one line for each system."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from t2t_phrase.reports.comparison.tables import Measured
from t2t_phrase.reports.figure import SERIES, inline_svg, legend_above, new_figure, style
from t2t_phrase.reports.text import visible

# The largest number of lines that can be told apart.
MOST_LINES = len(SERIES)


@dataclasses.dataclass(frozen=True)
class Plot:
    """Values of several systems over the same places.

    Attributes:
        name: of its file, without extension.
        title: its heading.
        places: names of the places on the horizontal axis.
        along: label of the horizontal axis.
        unit: of the values.
        series: by system, a value for each place, None where there is none.
    """

    name: str
    title: str
    places: Sequence[str]
    along: str
    unit: str
    series: dict[str, list[float | None]]


def plots_of(found: Measured) -> list[Plot]:
    """Return the plots of the measurements."""
    made = []
    if found.lengths:
        first = next(iter(found.lengths.values()))
        series = {
            name: [group.score.value if group.score else None for group in own]
            for name, own in found.lengths.items()
        }
        names = [group.name.replace(" words", "") for group in first]
        made.append(
            Plot("lengths", "BLEU by source length", names, "words of the source", "BLEU", series)
        )
    if found.ngrams:
        base, *others = found.ngrams
        orders = [str(row.order) for row in found.ngrams[base].orders]
        # The baseline has a line too, so that systems look the same in all figures.
        differences: dict[str, list[float | None]] = {
            base: [None if row.precision is None else 0.0 for row in found.ngrams[base].orders],
            **{name: [row.difference for row in found.ngrams[name].orders] for name in others},
        }
        made.append(
            Plot(
                "ngrams",
                "Precision of n-grams by order",
                orders,
                "order of the n-grams",
                f"difference from {base}",
                differences,
            )
        )
    if found.frequencies:
        first_groups = next(iter(found.frequencies.values()))
        f1 = {name: [group.f1 for group in own] for name, own in found.frequencies.items()}
        names = [group.name.replace(" and more", "+") for group in first_groups]
        names = [name.replace(" to ", "-") for name in names]
        along = "occurrences in the training text"
        made.append(Plot("frequencies", "F1 by word frequency", names, along, "F1", f1))
    return made


def draw(plot: Plot) -> Figure:
    """Return the figure; lines differ in colour, dashes and markers."""
    with matplotlib.rc_context(style()):
        figure = new_figure()
        ax = figure.add_subplot()
        lines, names = [], []
        for look, (name, values) in zip(SERIES, plot.series.items(), strict=False):
            known = [(at, value) for at, value in enumerate(values) if value is not None]
            (line,) = ax.plot(
                [at for at, _ in known],
                [value for _, value in known],
                color=look.color,
                linestyle=look.linestyle,
                marker=look.marker,
                linewidth=1.6,
                markersize=5,
            )
            lines.append(line)
            names.append(visible(name if len(name) <= 40 else f"{name[:39]}…"))
        crowded = max(map(len, plot.places)) * len(plot.places) > 60
        ax.set_xticks(range(len(plot.places)), list(plot.places), rotation=30 if crowded else 0)
        ax.set_xlabel(plot.along)
        ax.set_ylabel(visible(plot.unit))
        legend_above(ax, lines, names)
    return figure


def svg_of(plot: Plot) -> Markup:
    """Return a plot for a page."""
    label = f"{plot.title}; the table beside it has the same numbers."
    return inline_svg(draw(plot), plot.name, label=label)
