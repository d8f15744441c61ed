"""Statistics as text, in the form of the tables of Nguyen and Joty (2018), and as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from t2t_phrase.insights.labels import kind_of
from t2t_phrase.insights.statistics import QUADRANTS, LayerStatistics, Measure
from t2t_phrase.layers.attention.layout import Units

MEASURES: dict[Measure, str] = {
    "mass": "softmax mass (% of the attention of a query; mean over queries and heads)",
    "strongest": "strongest activation (% of positions)",
}
Shares = dict[str, float | None]


def format_statistics(statistics: Sequence[LayerStatistics]) -> str:
    """Return tables with a row for each layer and a column for each quadrant, in percent.

    If an attention has orders above 2 or segments, tables with a column for each pair of kinds
    follow. With tokens alone, there is only the last table, that of `LayerStatistics.focus`.
    """
    parts = []
    for attention in dict.fromkeys(entry.attention for entry in statistics):
        layers = [entry for entry in statistics if entry.attention == attention]
        rows = dict.fromkeys(units for entry in layers for units in entry.layout.rows)
        columns = dict.fromkeys(units for entry in layers for units in entry.layout.all_columns)
        parts.append(f"{layers[0].title}: from {_list(rows)} to {_list(columns)}")
        kinds = any(entry.has_kinds for entry in layers)
        for measure, heading in MEASURES.items() if kinds else ():
            quadrants = {entry.layer: entry.quadrants(measure) for entry in layers}
            parts.append(_table(f"  {heading}", quadrants))
        if kinds and any(units.order > 2 or units.partition for units in columns):
            for measure, heading in MEASURES.items():
                by_order = {entry.layer: entry.orders(measure) for entry in layers}
                parts.append(_table(f"  {heading}, order by order", by_order))
        parts.append(_focus_table(layers))
    return "\n\n".join(parts)


def _list(units: Iterable[Units]) -> str:
    return ", ".join(kind_of(unit) for unit in units)


def _table(heading: str, rows: dict[int, Shares]) -> str:
    names = list(dict.fromkeys(name for shares in rows.values() for name in shares))
    names.sort(key=lambda name: QUADRANTS.index(name) if name in QUADRANTS else 0)
    widths = [max(len(name), 6) for name in names]
    header = zip(names, widths, strict=True)
    lines = [heading, "  layer  " + "  ".join(f"{name:>{width}}" for name, width in header)]
    for layer, shares in rows.items():
        cells = [
            f"{_percent(shares.get(name)):>{width}}"
            for name, width in zip(names, widths, strict=True)
        ]
        lines.append(f"  {layer:>5}  " + "  ".join(cells))
    return "\n".join(lines)


def _focus_table(layers: Sequence[LayerStatistics]) -> str:
    lines = [
        "  focus (mean over queries and heads)",
        "  layer  entropy (nats)  largest weight (%)",
    ]
    for entry in layers:
        entropy, largest = entry.focus().values()
        shown = "-" if entropy is None else f"{entropy:.3f}"
        lines.append(f"  {entry.layer:>5}  {shown:>14}  {_percent(largest):>18}")
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def statistics_to_rows(statistics: Sequence[LayerStatistics]) -> list[list[str]]:
    """Return one table: a header, and a row for each attention, layer and measure, in percent.

    The last two columns belong to the measure "focus"; the entropy is in nats.
    """
    focus = ["entropy", "largest"]
    rows = [["attention", "layer", "measure", *QUADRANTS, *_orders(statistics), *focus]]
    for entry in statistics:
        for measure in MEASURES:
            shares = {**entry.quadrants(measure), **entry.orders(measure)}
            cells = ["" if shares.get(n) is None else _percent(shares[n]) for n in rows[0][3:]]
            rows.append([entry.attention, str(entry.layer), measure, *cells])
        entropy, largest = entry.focus().values()
        found = [
            "" if entropy is None else f"{entropy:.3f}",
            "" if largest is None else _percent(largest),
        ]
        blank = [""] * (len(rows[0]) - 5)
        rows.append([entry.attention, str(entry.layer), "focus", *blank, *found])
    return rows


def _orders(statistics: Sequence[LayerStatistics]) -> list[str]:
    return list(dict.fromkeys(name for entry in statistics for name in entry.orders("mass")))


def statistics_to_dict(statistics: Sequence[LayerStatistics]) -> dict[str, Any]:
    """Return the statistics as nested JSON values, with fractions instead of percentages."""
    found: dict[str, list[Any]] = {}
    for entry in statistics:
        values: dict[str, Any] = {
            "layer": entry.layer,
            "query_orders": [units.partition or units.order for units in entry.layout.rows],
            "key_orders": [units.partition or units.order for units in entry.layout.all_columns],
            "queries": [int(count) for count in entry.sums.rows],
            "positions": int(entry.sums.positions),
        }
        for measure in MEASURES:
            shares = {"quadrants": entry.quadrants(measure), "orders": entry.orders(measure)}
            values[measure] = shares
        values["focus"] = entry.focus()
        found.setdefault(entry.attention, []).append(values)
    return found
