"""The mean and standard deviation of scores over seeds, as text."""

from __future__ import annotations

import statistics
from collections.abc import Iterable


def mean_text(scores: Iterable[float]) -> str:
    """Return the mean of scores and, if there are several, their standard deviation."""
    values = list(scores)
    mean = f"{statistics.mean(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.2f}"
