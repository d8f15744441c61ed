"""Prepares the next batches in a thread while the device computes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Prefetcher(Generic[T]):
    """An iterator over `source` that runs ahead by up to `depth` items.

    `waited` is the time in seconds that the consumer has spent waiting. Use it as a context
    manager, or call `close`, to stop the thread.

    Args:
        source: read in a separate thread; its errors are raised by `next`.
        depth: number of items to prepare in advance.
    """

    def __init__(self, source: Iterator[T], *, depth: int = 8) -> None:
        self.waited = 0.0
        self._items: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(depth)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(source,), daemon=True)
        self._thread.start()

    def __iter__(self) -> Prefetcher[T]:
        return self

    def __next__(self) -> T:
        start = time.perf_counter()
        item, error = self._items.get()
        self.waited += time.perf_counter() - start
        if error is not None:
            # Further calls raise the same error.
            self._items.put((None, error))
            raise error
        return item  # type: ignore[return-value]

    def __enter__(self) -> Prefetcher[T]:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the thread and wait until it has ended."""
        self._closed.set()
        self._thread.join()

    def _fill(self, source: Iterator[T]) -> None:
        try:
            for item in source:
                if not self._put(item, None):
                    return
            self._put(None, StopIteration())
        except BaseException as error:  # raised again by the consumer
            self._put(None, error)

    def _put(self, item: T | None, error: BaseException | None) -> bool:
        while not self._closed.is_set():
            try:
                self._items.put((item, error), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False
