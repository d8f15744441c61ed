"""Matplotlib figures inside pages: SVG with text kept as text, in the colours of the page.

Draw with the colours of this module. They are replaced by variables of the page, which differ
between light and dark mode.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from t2t_phrase.figure_files import picture_of
from t2t_phrase.reports.text import visible


class Series(NamedTuple):
    """The look of one series of a plot; series differ in more than colour.

    Attributes:
        color, marker, linestyle: as matplotlib names them.
    """

    color: str
    marker: str
    linestyle: str


# Colours that stand for variables of the page. Their values are the colours of light mode.
INK, FAINT = "#1a1c1f", "#8b9099"
SERIES = (
    Series("#1f5fa8", "o", "-"),
    Series("#b3480f", "s", "--"),
    Series("#2f7a3d", "^", "-."),
    Series("#7b3fa0", "D", ":"),
    Series("#8a6d00", "v", (0, (5, 1, 1, 1, 1, 1))),  # type: ignore[arg-type]
    Series("#0b7285", "P", (0, (1, 1))),  # type: ignore[arg-type]
)
VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)"} | {
    series.color: f"var(--series-{number})" for number, series in enumerate(SERIES, start=1)
}
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
# Width and height of a figure.
_INCHES = (5.6, 3.2)
_STYLE: dict[Any, Any] = {
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "text.parse_math": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "font.size": 10,
}


def style() -> dict[Any, Any]:
    """Return matplotlib's settings for figures of pages, for `matplotlib.rc_context`."""
    return dict(_STYLE)


def new_figure() -> Figure:
    """Return an empty figure; give it axes inside `matplotlib.rc_context(style())`."""
    with matplotlib.rc_context(style()):
        figure = Figure(figsize=_INCHES)
        FigureCanvasAgg(figure)
    return figure


def legend_above(axes: Axes, lines: Sequence[Line2D], names: Sequence[str]) -> None:
    """Add the legend above the axes, where it hides nothing.

    Args:
        axes: the axes.
        lines: the lines that the legend names.
        names: their names. Given with the lines, names that begin with "_" are shown, too.
    """
    axes.legend(
        list(lines),
        list(names),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        borderaxespad=0.2,
    )


def inline_svg(figure: Figure, name: str, *, label: str) -> Markup:
    """Return a figure as SVG for use inside HTML; equal figures give equal text.

    Args:
        figure: drawn with the colours of this module.
        name: prefix of the ids inside, so that those of several figures differ.
        label: read out by screen readers instead of the drawing.
    """
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        root = ElementTree.fromstring(picture_of(figure, "svg"))
    for child in list(root):
        if child.tag == f"{{{_SVG}}}metadata":
            root.remove(child)
    used = _references(root)
    for element in root.iter():
        _rename(element, name, used)
        for attribute in ("style", "fill", "stroke"):
            if attribute in element.attrib:
                element.set(attribute, _with_variables(element.attrib[attribute]))
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", visible(label))
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _references(root: ElementTree.Element) -> set[str]:
    """Return the ids that elements inside refer to."""
    found: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                found.add(value.removeprefix("#"))
            found |= set(re.findall(r"url\(#([^)]+)\)", value))
    return found


def _rename(element: ElementTree.Element, name: str, used: set[str]) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{name}-{own}")
    for key, value in element.attrib.items():
        if key.endswith("href"):
            element.set(key, f"#{name}-{value.removeprefix('#')}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _with_variables(text: str) -> str:
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return text
