"""Stages the text of a training set without side streams, in several processes if it is large."""

from __future__ import annotations

import time

from t2t_phrase.data.generation.portions import Portion, StagedPortion, stage_portions
from t2t_phrase.data.generation.progress import Log, Progress
from t2t_phrase.io.reporting import progress

# Bytes of text from which starting processes, which takes seconds, pays off.
MANY_BYTES = 2**25
_INTERVAL = 10.0


def stage_training_text(
    portion: Portion, *, title: str, log: Log, workers: int, text_bytes: int
) -> StagedPortion:
    """Write the text of shards, and log the progress.

    Args:
        portion: what to write.
        title: beginning of the lines of progress.
        log: takes these lines.
        workers: maximum number of processes.
        text_bytes: approximate size of the whole training set's text; 0: unknown.

    Raises:
        UserError: the corpus is faulty, the disk is full, or a process was killed.
    """
    several = portion.corpus.skips and text_bytes >= MANY_BYTES
    portions = portion.split(workers if several else 1)
    pairs = Progress(title, log)
    written = _Written(portion, title, log, text_bytes)
    start = time.monotonic()
    found = stage_portions(portions, read=pairs.advance, waiting=written.report)
    if len(portions) == 1:
        log(pairs.describe())
    else:
        count = found.pairs + sum(found.faults.counts.values())
        seconds = max(time.monotonic() - start, 1e-9)
        rate = f"{count / seconds:,.0f} a second"
        log(f"{title}: {count:,} sentence pairs in {len(portions)} processes, {rate}")
    return found


class _Written:
    """Logs every few seconds how much text other processes have written."""

    def __init__(self, portion: Portion, title: str, log: Log, text_bytes: int) -> None:
        self._paths = [path for paths in portion.files.values() for path in paths]
        self._total = text_bytes * len(portion.files) / portion.shards
        self._title = title
        self._log = log
        self._last = time.monotonic()

    def report(self) -> None:
        """Log a line if one is due."""
        now = time.monotonic()
        if now - self._last >= _INTERVAL:
            self._last = now
            done = sum(path.stat().st_size for path in self._paths if path.exists())
            of_total = f" of about {self._total / 1e6:,.0f}"
            progress(self._log, f"{self._title}: {done / 1e6:,.0f}{of_total} MB of text")
