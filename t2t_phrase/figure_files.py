"""Conversion of matplotlib figures to the content of picture files."""

from __future__ import annotations

import io
import warnings

import matplotlib
from matplotlib.figure import Figure

# Picture formats, each with the metadata that is left out because it differs from run to run.
FORMATS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None},
    "svg": {"Date": None},
}


def picture_of(figure: Figure, kind: str = "png") -> bytes:
    """Return the figure with all labels in a picture format; equal figures give equal bytes.

    Args:
        figure: the figure.
        kind: one of `FORMATS`.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "t2t_phrase"}):
        # The caller reports these glyphs once, with `figure_fonts.font_notes`.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(
            buffer, format=kind, bbox_inches="tight", pad_inches=0.08, metadata=FORMATS[kind]
        )
    return buffer.getvalue()
