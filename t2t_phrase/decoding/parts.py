"""Parts of batches that are searched at the same time, each by one core.

Cores that share operations wait for each other in every operation. Cores that search separate parts
never do.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import keras
import numpy as np

from t2t_phrase.cores import number_of_parts
from t2t_phrase.decoding.batches import Batch


def split_batch(batch: Batch, parts: int) -> tuple[Batch, list[slice]]:
    """Return a batch whose parts have the same number of rows, and the rows of each part.

    A part has every `parts`-th row, and so both long and short sentences.

    Args:
        batch: the batch to split.
        parts: number of parts.
    """
    rows, length = batch.shape
    rows = -(-rows // parts) * parts
    return batch._replace(shape=(rows, length)), [slice(i, rows, parts) for i in range(parts)]


def join_rows(parts: list[Any]) -> Any:
    """Return the nested arrays (B, ...) of a batch from those of its parts, see `split_batch`."""

    def join(*values: np.ndarray) -> np.ndarray:
        stacked = np.stack(values, axis=1)
        return stacked.reshape(-1, *stacked.shape[2:])

    return keras.tree.map_structure(join, *parts)


def search_in_parts(
    search: Callable[[int, Batch, slice], Any],
    batches: Iterable[tuple[int, Batch]],
    *,
    workers: int,
) -> Generator[tuple[Batch, Any], None, None]:
    """Yield each batch and its results, in order.

    While the caller uses the results of a batch, the parts of the next one are searched. A caller
    that stops early closes the generator; parts whose search has not begun are then not searched.

    Args:
        search: maps the number of a batch, the batch and the rows of a part of it to nested arrays,
            each (B, ...).
        batches: with their numbers.
        workers: number of parts that are searched at the same time; 1: in the caller's thread.
    """
    if workers == 1:
        for number, batch in batches:
            yield batch, search(number, batch, slice(None))
        return
    started: collections.deque[tuple[Batch, list[Future[Any]]]] = collections.deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for number, batch in batches:
            batch, parts = split_batch(batch, number_of_parts(batch.shape[0], workers))
            started.append((batch, [pool.submit(search, number, batch, part) for part in parts]))
            if len(started) == 2:
                yield _joined(*started.popleft())
        for each in started:
            yield _joined(*each)
    finally:
        pool.shutdown(cancel_futures=True)


def _joined(batch: Batch, futures: Iterable[Future[Any]]) -> tuple[Batch, Any]:
    return batch, join_rows([future.result() for future in futures])
