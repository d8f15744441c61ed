"""Reports the progress of long jobs every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from t2t_phrase.io.reporting import progress, refresh

Log = Callable[[str], None]


class Progress:
    """Counts sentence pairs and logs their rate.

    Args:
        title: what is being done.
        log: takes one line.
        total: number of pairs, from which the remaining time is estimated; 0: unknown.
        interval: seconds between lines.
    """

    def __init__(self, title: str, log: Log, *, total: int = 0, interval: float = 10.0) -> None:
        self._title = title
        self._log = log
        self._total = total
        self._interval = interval
        self._start = self._last = time.monotonic()
        self.count = 0

    def advance(self, pairs: int = 1) -> None:
        """Count `pairs` more pairs."""
        self.count += pairs
        # Reading the clock for each of 25M pairs would take too long.
        if pairs > 1 or self.count % 1000 == 0:
            now = time.monotonic()
            if now - self._last >= self._interval:
                self._last = now
                progress(self._log, self.describe())
            else:
                refresh(self._log, self.describe)

    def describe(self) -> str:
        """Return "title: 12,000 of 29,000 sentence pairs, 8,000 a second, 2 s left"."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = self.count / seconds
        of_total = f" of {self._total:,}" if self._total else ""
        left = max(self._total - self.count, 0) / rate if rate else 0.0
        eta = f", {left:,.0f} s left" if left else ""
        return f"{self._title}: {self.count:,}{of_total} sentence pairs, {rate:,.0f} a second{eta}"
