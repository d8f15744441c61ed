"""Lines about the progress of an aligner."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from t2t_phrase.io.reporting import progress

Log = Callable[[str], object]


class Progress:
    """Reports steps whose relative costs are known, and how long the remaining ones will take.

    Args:
        total: sum of the costs of all steps.
        log: called with a line for each step.
    """

    def __init__(self, total: float, log: Log) -> None:
        self._total = total
        self._log = log
        self._done = 0.0
        self._begin = time.monotonic()

    def step(self, title: str, cost: float, log_likelihood: float | None = None) -> None:
        """Report that a step is done.

        Args:
            title: description of the step.
            cost: of the step.
            log_likelihood: mean over words, in nats, if the step has computed it.
        """
        self._done += cost
        seconds = time.monotonic() - self._begin
        left = seconds / self._done * (self._total - self._done)
        line = title
        if log_likelihood is not None:
            line += f": perplexity {math.exp(-log_likelihood):,.1f}"
        rest = f", about {left:.0f} s left" if left >= 1 else ""
        progress(self._log, f"{line}, {seconds:.0f} s{rest}")
