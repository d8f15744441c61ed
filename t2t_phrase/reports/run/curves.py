"""The curves of a run: loss, perplexity, BLEU, learning rate and throughput by update."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from t2t_phrase.reports.figure import SERIES, inline_svg, legend_above, new_figure, style
from t2t_phrase.reports.run.facts import RunFacts

# The most points of a curve; more cannot be told apart, and would make the page large.
MOST_POINTS = 300
# The most points of a curve whose points have markers.
_MARKED = 40

Values = list[tuple[int, float]]


@dataclasses.dataclass(frozen=True)
class Curve:
    """One plot.

    Attributes:
        title: its heading.
        series: (step, value) of each line by its name, in the order of the steps.
        unit: of the values.
    """

    title: str
    series: dict[str, Values]
    unit: str


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A curve as a page shows it.

    Attributes:
        title: of the curve.
        svg: the drawing.
        summary: its ends in words, for readers who do not see it.
    """

    title: str
    svg: Markup
    summary: str


def curves_of(facts: RunFacts) -> list[Curve]:
    """Return the curves of a run for which finite values were recorded."""

    def trained(tag: str, change: Callable[[float], float] = float) -> Values:
        return [(point.step, change(point.value)) for point in facts.scalars.get(tag, [])]

    def scored(metric: str, change: Callable[[float], float] = float) -> Values:
        return sorted((step, change(value)) for step, value in facts.scores.of(metric).items())

    found = [
        Curve("Loss", {"training": trained("loss"), "development": scored("loss")}, "per token"),
        Curve(
            "Perplexity",
            {"training": trained("nll", perplexity), "development": scored("nll", perplexity)},
            "per token",
        ),
        Curve("BLEU of the development set", {"development": scored("bleu")}, "BLEU"),
        Curve("Learning rate", {"training": trained("learning_rate")}, "learning rate"),
        Curve(
            "Throughput",
            {"training": trained("tokens_per_second")},
            "source and target tokens per second",
        ),
    ]
    made = []
    for curve in found:
        series = {name: finite(values) for name, values in curve.series.items()}
        series = {name: values for name, values in series.items() if values}
        if series:
            made.append(dataclasses.replace(curve, series=series))
    return made


def perplexity(nll: float) -> float:
    """Return the perplexity of a negative log-likelihood in nats; inf beyond what floats hold."""
    return math.inf if nll >= 700 else math.exp(nll)


def finite(values: Values) -> Values:
    """Return the points whose value is a number."""
    return [(step, value) for step, value in values if math.isfinite(value)]


def thinned(values: Sequence[tuple[int, float]], most: int = MOST_POINTS) -> Values:
    """Return at most `most` points: means of equally many neighbours, each at their last step."""
    size = -(-len(values) // most)
    groups = [values[at : at + size] for at in range(0, len(values), size)] if size else []
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def draw(curve: Curve) -> Figure:
    """Return the plot of a curve; lines differ in colour, dashes and markers."""
    with matplotlib.rc_context(style()):
        figure = new_figure()
        ax = figure.add_subplot()
        lines = []
        for look, values in zip(SERIES, curve.series.values(), strict=False):
            points = thinned(values)
            (line,) = ax.plot(
                [step for step, _ in points],
                [value for _, value in points],
                color=look.color,
                linestyle=look.linestyle,
                linewidth=1.6,
                marker=look.marker if len(points) <= _MARKED else "",
                markersize=4,
            )
            lines.append(line)
        heights = [value for own in curve.series.values() for _, value in own]
        if min(heights) > 0 and max(heights) > 50 * min(heights):
            ax.set_yscale("log")
        ax.set_xlabel("updates")
        ax.set_ylabel(curve.unit)
        if len(curve.series) > 1:
            legend_above(ax, lines, list(curve.series))
    return figure


def drawn(curve: Curve) -> Drawn:
    """Return a curve as SVG, with its ends in words."""
    ends = [
        f"{name} from {own[0][1]:.4g} at update {own[0][0]:,} to {own[-1][1]:.4g} at update "
        f"{own[-1][0]:,}"
        for name, own in curve.series.items()
    ]
    summary = f"{curve.title}: {'; '.join(ends)}."
    name = curve.title.split()[0].lower()
    return Drawn(curve.title, inline_svg(draw(curve), name, label=summary), summary)
