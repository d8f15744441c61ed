"""Statistics as text in the form of the paper's tables, and as JSON-ready values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from t2t_phrase.insights.layouts import ATTENTIONS
from t2t_phrase.insights.statistics import QUADRANTS, LayerStatistics, Measure

MEASURES: dict[Measure, str] = {
    "mass": "softmax mass (% of what a query attends to; the mean over queries and heads)",
    "strongest": "strongest activation (% of positions)",
}
Shares = dict[str, float | None]


def format_statistics(statistics: Sequence[LayerStatistics]) -> str:
    """Return tables with a row for each layer and a column for each quadrant, in percent.

    Where an attention knows orders above 2, tables with a column for each pair of orders follow.
    """
    parts = []
    for attention, title in ATTENTIONS.items():
        layers = [entry for entry in statistics if entry.attention == attention]
        if not layers:
            continue
        structures = dict.fromkeys(entry.layout.structure for entry in layers)
        orders = sorted({order for entry in layers for order in entry.layout.key_orders})
        parts.append(f"{title}: {', '.join(structures)}, orders {', '.join(map(str, orders))}")
        for measure, heading in MEASURES.items():
            quadrants = {entry.layer: entry.quadrants(measure) for entry in layers}
            parts.append(_table(f"  {heading}", quadrants))
        if max(orders) > 2:
            for measure, heading in MEASURES.items():
                by_order = {entry.layer: entry.orders(measure) for entry in layers}
                parts.append(_table(f"  {heading}, order by order", by_order))
    return "\n\n".join(parts)


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


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def statistics_to_dict(statistics: Sequence[LayerStatistics]) -> dict[str, Any]:
    """Return the same as nested JSON-ready values, shares of 1 instead of percent."""
    found: dict[str, list[Any]] = {}
    for entry in statistics:
        values: dict[str, Any] = {
            "layer": entry.layer,
            "structure": entry.layout.structure,
            "query_orders": list(entry.layout.query_orders),
            "key_orders": list(entry.layout.key_orders),
            "queries": [int(count) for count in entry.sums.rows],
            "positions": int(entry.sums.positions),
        }
        for measure in MEASURES:
            shares = {"quadrants": entry.quadrants(measure), "orders": entry.orders(measure)}
            values[measure] = shares
        found.setdefault(entry.attention, []).append(values)
    return found
