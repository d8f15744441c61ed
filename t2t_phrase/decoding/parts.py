"""Parts of batches, which are searched at the same time, each by one core.

Cores that share the operations wait for one another in each of them. Those that search parts of
their own never do.
"""

from __future__ import annotations

import collections
import functools
import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import keras
import numpy as np

from t2t_phrase.decoding.batches import Batch

# With fewer sentences in a part, its products would take as long.
LEAST_ROWS = 4


def divide_cores(sentences: int | None, cores: int | None = None) -> int:
    """Share the cores out and return the number of parts to search at the same time.

    Each operation of TensorFlow then uses the cores of its part only. Call it before TensorFlow
    computes anything; later, on a GPU and by JAX there is one part.

    Args:
        sentences: how many there are; None: unknown, perhaps many.
        cores: how many to use; None: TF_NUM_INTRAOP_THREADS, as TensorFlow would, or else all.
    """
    if keras.backend.backend() != "tensorflow":
        return 1
    import tensorflow as tf

    cores = cores or _usable_cores()
    parts = cores if sentences is None else max(1, min(cores, sentences // LEAST_ROWS))
    if parts == 1 or tf.config.list_physical_devices("GPU"):
        return 1
    try:
        tf.config.threading.set_intra_op_parallelism_threads(cores // parts)
    except RuntimeError:
        return 1
    return parts


def _usable_cores() -> int:
    given = os.environ.get("TF_NUM_INTRAOP_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    # Not every system says which cores a process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def number_of_parts(rows: int, most: int) -> int:
    """Return how many parts a batch is searched in.

    Args:
        rows: of the batch.
        most: that can be searched at the same time.
    """
    return max(1, min(most, rows // LEAST_ROWS))


def split_batch(batch: Batch, parts: int) -> tuple[Batch, list[slice]]:
    """Return a batch with as many rows in each part, and the rows of each.

    A part has every `parts`-th row, and so long and short sentences.

    Args:
        batch: what is split.
        parts: how many.
    """
    rows, length = batch.shape
    rows = -(-rows // parts) * parts
    return batch._replace(shape=(rows, length)), [slice(i, rows, parts) for i in range(parts)]


def join_rows(parts: list[Any]) -> Any:
    """Return nested arrays (B, ...) from those of its parts, see `split_batch`."""

    def join(*values: np.ndarray) -> np.ndarray:
        stacked = np.stack(values, axis=1)
        return stacked.reshape(-1, *stacked.shape[2:])

    return keras.tree.map_structure(join, *parts)


def search_in_parts(
    search: Callable[[int, Batch, slice], Any],
    batches: Iterable[tuple[int, Batch]],
    *,
    workers: int,
) -> Generator[tuple[Batch, Callable[[], Any]], None, None]:
    """Yield each batch and a function that returns its results, in order.

    While the caller reads the results of a batch, the parts of the next one are searched. Who stops
    early closes the generator, and what has not begun is not searched.

    Args:
        search: maps the number of a batch, the batch and the rows of a part of it to nested arrays,
            each (B, ...).
        batches: with their numbers.
        workers: how many parts are searched at the same time. One: where the function is called.
    """
    if workers == 1:
        for number, batch in batches:
            yield batch, functools.partial(search, number, batch, slice(None))
        return
    started: collections.deque[tuple[Batch, Callable[[], Any]]] = collections.deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for number, batch in batches:
            batch, parts = split_batch(batch, number_of_parts(batch.shape[0], workers))
            futures = [pool.submit(search, number, batch, part) for part in parts]
            started.append((batch, functools.partial(_joined, futures)))
            if len(started) == 2:
                yield started.popleft()
        yield from started
    finally:
        pool.shutdown(cancel_futures=True)


def _joined(futures: Iterable[Future[Any]]) -> Any:
    return join_rows([future.result() for future in futures])
