"""Measures a comparison and writes its page and files."""

from __future__ import annotations

import os
from collections.abc import Callable

from t2t_phrase.figure_fonts import font_notes
from t2t_phrase.io.line_counts import counted
from t2t_phrase.reports.comparison.figures import MOST_LINES, plots_of
from t2t_phrase.reports.comparison.files import earlier_files, write_files
from t2t_phrase.reports.comparison.inputs import ComparisonInputs
from t2t_phrase.reports.comparison.page import comparison_page
from t2t_phrase.reports.comparison.tables import Measured, measure
from t2t_phrase.reports.page import size_text, write_page
from t2t_phrase.reports.text import visible


def write_comparison(
    given: ComparisonInputs,
    *,
    page: str | os.PathLike[str] | None,
    folder: str | os.PathLike[str] | None,
    log: Callable[[str], None],
) -> Measured:
    """Compare systems; write the page, and the folder of tables and figures.

    Args:
        given: the inputs.
        page: HTML file; None: none.
        folder: for the files; None: none.
        log: called with each line.

    Returns:
        The measurements.

    Raises:
        UserError: an input or option is wrong, or a file cannot be written.
    """
    found = measure(given, log=log)
    if page is not None:
        html = comparison_page(given, found)
        write_page(page, html)
        log(f"written: {page} ({size_text(len(html.encode('utf-8', 'replace')))})")
    if folder is not None:
        names = write_files(found, folder)
        if plots_of(found):
            drawn = list(given.systems)[:MOST_LINES]
            if len(drawn) < len(given.systems):
                log(f"figures show the first {MOST_LINES} of {len(given.systems)} systems only")
            for line in font_notes(map(visible, drawn)):
                log(line)
        log(f"written: {counted(len(names), 'file')} in {folder}: {', '.join(names)}")
        if earlier := earlier_files(folder, names):
            log(f"not of this comparison: {', '.join(earlier)} in {folder}, from an earlier one")
    return found
