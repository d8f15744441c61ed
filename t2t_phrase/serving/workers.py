"""The threads that search the sentences in the queue."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.messages import note
from t2t_phrase.serving.queue import BatchQueue, Waiting
from t2t_phrase.serving.servable import Servable, Signature

# The kind of a job: rows of one signature of one version.
Kind = tuple[Servable, Signature]
# The outputs that are translations.
_TRANSLATIONS = ("translation", "translations")


class Workers:
    """Threads that take batches from a queue until it is closed and empty.

    Args:
        queue: a queue of jobs whose kind is a `Kind`.
        count: how many batches are searched at the same time.
        on_batch: called with the sentences, tokens and seconds of each batch.
    """

    def __init__(
        self, queue: BatchQueue, count: int, on_batch: Callable[[int, int, float], None]
    ) -> None:
        self._queue, self._on_batch = queue, on_batch
        self._threads = [
            threading.Thread(target=self._work, name=f"search-{number}", daemon=True)
            for number in range(count)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Close the queue, and wait until all its rows are done."""
        self._queue.close()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._queue.take():
            start = time.monotonic()
            kind: Kind = batch[0].job.kind
            servable, signature = kind
            outputs = search_batch(signature, batch)
            seconds = time.monotonic() - start
            self._queue.note_speed(batch, seconds)
            self._on_batch(len(batch), _tokens(servable, outputs), seconds)


def search_batch(signature: Signature, batch: Sequence[Waiting]) -> dict[str, list[Any]]:
    """Search a batch, give each job its results, and return all of them.

    If a batch fails, its halves are searched, so that only sentences that cannot be searched alone
    fail. An error that is the client's, such as a feature that does not fit, is not reported.
    """
    rows = [waiting.job.rows[waiting.place] for waiting in batch]
    try:
        outputs = dict(signature.run(list(zip(*rows, strict=True))))
    # Whatever the reason is, the server keeps running.
    except Exception as error:
        if len(batch) == 1:
            job, place, length, _ = batch[0]
            if isinstance(error, RequestError):
                job.fail(RequestError(error.status, f"sentence {place + 1}: {error}"))
            else:
                job.fail(error)
                note(f"{signature.name}: a request of {length} bytes failed: {error}")
            return {}
        halves = [search_batch(signature, half) for half in _halves(batch)]
        return {
            name: [value for half in halves for value in half.get(name, [])]
            for name in signature.outputs
        }
    for number, waiting in enumerate(batch):
        waiting.job.finish(
            waiting.place, {name: values[number] for name, values in outputs.items()}
        )
    return outputs


def _halves(batch: Sequence[Waiting]) -> list[Sequence[Waiting]]:
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


def _tokens(servable: Servable, outputs: dict[str, list[Any]]) -> int:
    if servable.count_tokens is None:
        return 0
    best: list[bytes] = []
    for name in _TRANSLATIONS:
        for value in outputs.get(name, []):
            best.append(value[0] if isinstance(value, list) else value)
    # The count is only for the metrics, and must not stop the thread.
    with contextlib.suppress(Exception):
        return servable.count_tokens(best)
    return 0
