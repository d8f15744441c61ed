"""The tables and figures of a comparison as files for papers and programs."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

import matplotlib

from t2t_phrase.evaluation.table import format_table
from t2t_phrase.figure_files import picture_of
from t2t_phrase.figure_fonts import installed_families
from t2t_phrase.io.files import expanded, explain_os_error, write
from t2t_phrase.reports.comparison.figures import draw, plots_of
from t2t_phrase.reports.comparison.tables import NAMES, Measured

TABLES = {"json": "json", "csv": "csv", "tex": "latex", "md": "markdown"}
FIGURES = ("pdf", "png")


def possible_files(folder: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Return the paths of all files that `write_files` may write."""
    place = pathlib.Path(expanded(folder))
    return [place / f"{name}.{ending}" for name in NAMES for ending in (*TABLES, *FIGURES)]


def earlier_files(folder: str | os.PathLike[str], written: Sequence[str]) -> list[str]:
    """Return the names of files of an earlier comparison that `write_files` has not replaced.

    Args:
        folder: the folder.
        written: names of the files that it wrote.
    """
    names = [path.name for path in possible_files(folder) if path.exists()]
    return [name for name in names if name not in written]


def make_folder(folder: str | os.PathLike[str]) -> pathlib.Path:
    """Return the folder of the files, created if it does not exist.

    Raises:
        WriteError: it cannot be created.
    """
    place = pathlib.Path(expanded(folder))
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, place) from error
    return place


def write_files(found: Measured, folder: str | os.PathLike[str]) -> list[str]:
    """Write every table as JSON, CSV, LaTeX and Markdown, and every figure as PDF and PNG.

    Args:
        found: the measurements.
        folder: created if it does not exist.

    Returns:
        The names of the files.

    Raises:
        WriteError: a file cannot be written.
    """
    place = make_folder(folder)
    names = []
    for table in found.tables:
        for ending, kind in TABLES.items():
            names.append(f"{table.name}.{ending}")
            text = format_table(table.header, table.rows, kind, notes=table.notes)
            write(place / names[-1], f"{text}\n")
    for plot in plots_of(found):
        for kind in FIGURES:
            names.append(f"{plot.name}.{kind}")
            with matplotlib.rc_context({"font.family": installed_families()}):
                content = picture_of(draw(plot), kind)
            write(place / names[-1], content)
    return names
