"""The page of a comparison: tables, figures, and the sentences to sort and filter."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from t2t_phrase.reports.comparison.figures import MOST_LINES, plots_of, svg_of
from t2t_phrase.reports.comparison.inputs import ComparisonInputs
from t2t_phrase.reports.comparison.sentences import sentence_rows
from t2t_phrase.reports.comparison.tables import Measured
from t2t_phrase.reports.page import BOUND, fitted, render

TEMPLATE = "comparison.html"
SCRIPT = "sentences.js"


def comparison_page(given: ComparisonInputs, found: Measured, *, bound: int = BOUND) -> str:
    """Return the page as HTML, with as many sentences as fit into it.

    Args:
        given: the inputs.
        found: the result of `measure` for the inputs.
        bound: the largest size in bytes.

    Raises:
        UserError: the page is too large without any sentence.
    """
    figures = {plot.name: svg_of(plot) for plot in plots_of(found)}
    sentences = sentence_rows(given)

    def make(count: int) -> str:
        return render(
            TEMPLATE,
            scripts=[SCRIPT],
            systems=list(given.systems),
            tables=found.tables,
            figures=figures,
            most_lines=MOST_LINES,
            total=len(sentences),
            data=data_of(given, sentences[:count]),
            shown=count,
            resamples=given.resamples,
            exchanges=given.exchanges,
            made=time.strftime("%Y-%m-%d %H:%M"),
        )

    return fitted(make, len(sentences), bound=bound)


def data_of(given: ComparisonInputs, sentences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the data that the script of the page reads."""
    return {
        "systems": list(given.systems),
        "counted": "reference" if given.sources is None else "source",
        "sentences": list(sentences),
    }
