"""A table as text, JSON, CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from t2t_phrase.evaluation.aligned import aligned

Rows = Sequence[Sequence[str]]


def format_table(header: Sequence[str], rows: Rows, kind: str, *, notes: Sequence[str] = ()) -> str:
    """Return a table.

    Args:
        header: names of the columns.
        rows: the cells of each row, one text for each column.
        kind: one of `FORMATS`.
        notes: lines that belong to the table, such as signatures.
    """
    return _WRITERS[kind](header, rows, notes)


def _text(header: Sequence[str], rows: Rows, notes: Sequence[str]) -> str:
    return "\n".join([aligned([header, *rows]), *notes])


def _json(header: Sequence[str], rows: Rows, notes: Sequence[str]) -> str:
    found = [dict(zip(header, row, strict=True)) for row in rows]
    return json.dumps({"systems": found, "notes": list(notes)}, indent=2, ensure_ascii=False)


def _csv(header: Sequence[str], rows: Rows, notes: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue() + "".join(f"# {note}\n" for note in notes).rstrip("\n")


def _markdown(header: Sequence[str], rows: Rows, notes: Sequence[str]) -> str:
    first, *lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in (header, *rows)
    ]
    ruler = "|---|" + "---:|" * (len(header) - 1)
    return "\n".join([first, ruler, *lines, *(["", *notes] if notes else [])])


def _latex(header: Sequence[str], rows: Rows, notes: Sequence[str]) -> str:
    body = [" & ".join(map(_escaped, row)) + r" \\" for row in (header, *rows)]
    return "\n".join(
        [
            *(f"% {note}" for note in notes),
            r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}",
            r"\hline",
            body[0],
            r"\hline",
            *body[1:],
            r"\hline",
            r"\end{tabular}",
        ]
    )


_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        # In LaTeX's default font encoding, these print other characters.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)


def _escaped(cell: str) -> str:
    return cell.translate(_LATEX)


_WRITERS: dict[str, Callable[[Sequence[str], Rows, Sequence[str]], str]] = {
    "text": _text,
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
FORMATS = tuple(_WRITERS)
