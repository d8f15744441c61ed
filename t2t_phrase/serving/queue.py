"""The sentences that wait to be searched: bounded, and handed out in batches."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, NamedTuple

from t2t_phrase.serving.batch_times import BatchTimes
from t2t_phrase.serving.batching import choose_batch
from t2t_phrase.serving.predict_format import Row

# The longest time that a client is asked to wait before it tries again, in seconds.
LONGEST_RETRY = 60


class QueueFull(Exception):
    """There is no room for the sentences of a request.

    Attributes:
        retry_after: seconds until there probably is room, an integer of at least 1.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__("the queue is full")
        self.retry_after = retry_after


class Job:
    """The sentences of one request and their results.

    Args:
        kind: sentences of equal kinds may be searched together.
        rows: the inputs of each sentence.

    Attributes:
        future: a future of the results, one for each row. Once it is cancelled, the rows that
            still wait are not searched.
    """

    def __init__(self, kind: Any, rows: Sequence[Row]) -> None:
        self.kind = kind
        self.rows = rows
        self.future: Future[list[Any]] = Future()
        self._results: list[Any] = [None] * len(rows)
        self._missing = len(rows)
        self._lock = threading.Lock()
        if not rows:
            self.future.set_result([])

    def finish(self, place: int, result: Any) -> None:
        """Note the result of a row; with the last one, the job is done."""
        with self._lock:
            self._results[place] = result
            self._missing -= 1
            done = not self._missing
        if done:
            # The client may have given up at this very moment.
            with contextlib.suppress(InvalidStateError):
                self.future.set_result(self._results)

    def fail(self, error: BaseException) -> None:
        """Note that a row, and so the job, has no result."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)


class Waiting(NamedTuple):
    """A row of a job that waits.

    Attributes:
        job: the job.
        place: the number of the row in the job.
        length: the length of its inputs, in bytes.
        arrived: the time of its arrival, in seconds of the queue's clock.
    """

    job: Job
    place: int
    length: int
    arrived: float


class BatchQueue:
    """Joins the rows of many jobs into batches; may be used by any number of threads.

    The row that has waited longest is in the next batch, with rows of its kind that are similar in
    length, see `choose_batch`. So no row waits forever.

    Args:
        most_rows: the most rows in a batch.
        most_bytes: the most bytes in a batch, see `choose_batch`.
        patience: how long, in seconds, a row may wait for others.
        capacity: the greatest number of rows that wait.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        *,
        most_rows: int,
        most_bytes: int,
        patience: float,
        capacity: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = {"most_rows": most_rows, "most_bytes": most_bytes}
        self._patience, self._capacity, self._clock = patience, capacity, clock
        self._rows: list[Waiting] = []
        self._closed = False
        self._changed = threading.Condition()
        self._seconds_per_row = 0.0
        self._times = BatchTimes()

    def __len__(self) -> int:
        """Return the number of rows that wait."""
        return len(self._rows)

    def put(self, job: Job) -> None:
        """Add all rows of a job.

        Raises:
            QueueFull: there is no room for all of them.
        """
        now = self._clock()
        with self._changed:
            if len(self._rows) + len(job.rows) > self._capacity:
                self._drop_finished()
            if len(self._rows) + len(job.rows) > self._capacity:
                seconds = math.ceil(len(self._rows) * self._seconds_per_row)
                raise QueueFull(min(max(1, seconds), LONGEST_RETRY))
            self._rows += [
                Waiting(job, place, sum(map(len, row)), now) for place, row in enumerate(job.rows)
            ]
            self._changed.notify_all()

    def take(self) -> list[Waiting]:
        """Wait for the next batch, all of one kind, and return it; empty: there are no more.

        A batch is handed out when it is full, when its first row has waited long enough, or when
        the queue is closed.
        """
        with self._changed:
            while True:
                self._drop_finished()
                if not self._rows:
                    if self._closed:
                        return []
                    self._changed.wait()
                    continue
                left = self._rows[0].arrived + self._patience - self._clock()
                if left <= 0 or self._closed or len(self._rows) >= self._limits["most_rows"]:
                    return self._chosen()
                self._changed.wait(left)

    def note_speed(self, batch: Sequence[Waiting], seconds: float) -> None:
        """Note how long a batch took.

        This determines the size of the next batches, and when refused clients are told to retry.
        """
        with self._changed:
            self._times.note(len(batch), max(waiting.length for waiting in batch), seconds)
        now = seconds / len(batch)
        known = self._seconds_per_row
        self._seconds_per_row = 0.9 * known + 0.1 * now if known else now

    def close(self) -> None:
        """Hand out the waiting rows without further delay, and then no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _drop_finished(self) -> None:
        if any(waiting.job.future.done() for waiting in self._rows):
            self._rows = [waiting for waiting in self._rows if not waiting.job.future.done()]

    def _chosen(self) -> list[Waiting]:
        kind = self._rows[0].job.kind
        same = [waiting for waiting in self._rows if waiting.job.kind == kind]
        lengths = [waiting.length for waiting in same]
        numbers = choose_batch(lengths, overhead=self._times.overhead, **self._limits)
        chosen = [same[number] for number in numbers]
        taken = {(id(waiting.job), waiting.place) for waiting in chosen}
        self._rows = [w for w in self._rows if (id(w.job), w.place) not in taken]
        return chosen
