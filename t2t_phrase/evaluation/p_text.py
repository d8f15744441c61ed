"""P-values as text."""

from __future__ import annotations


def p_text(value: float | None, *, places: int = 4) -> str:
    """Return a p-value as text: "0.0123", "<0.0001" if that rounds to 0, "-" if there is none."""
    if value is None:
        return "-"
    least = 10.0**-places
    return f"{value:.{places}f}" if value >= least / 2 else f"<{least:.{places}f}"
