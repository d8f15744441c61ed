"""Work in several processes, none of which outlives the process that started it."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.records import ShardTask, write_shard

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

# Waiting tasks per worker.
_WAITING = 2


class WorkerLost(UserError):
    """A worker process ended unexpectedly."""

    exit_code = 3


def write_shards(
    tasks: Mapping[K, ShardTask], *, num_workers: int
) -> Iterator[tuple[K, dict[str, Any]]]:
    """Write shards and yield (key, manifest entry) as each is done.

    Args:
        tasks: the shards to write, by any key.
        num_workers: number of processes; 1: this process.

    Raises:
        UserError: a shard could not be written; those yielded before are complete.
    """
    workers = min(num_workers, len(tasks))
    if workers <= 1:
        for key, task in tasks.items():
            yield key, write_shard(task)
        return
    with _pool(workers) as pool:
        futures = {pool.submit(write_shard, task): key for key, task in tasks.items()}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


def in_order(
    function: Callable[..., R], tasks: Iterator[tuple[Any, ...]], *, workers: int
) -> Iterator[R]:
    """Yield the result of a function for each task, in the order of the tasks.

    Args:
        function: a module-level function, since it is called in other processes.
        tasks: the arguments of each call, taken as workers need them.
        workers: number of processes, which are only started if there are tasks.

    Raises:
        UserError: the function raised a UserError, or a process was killed.
    """
    first = next(tasks, None)
    if first is None:
        return
    tasks = itertools.chain([first], tasks)
    with _pool(workers) as pool:
        futures: collections.deque[concurrent.futures.Future[R]] = collections.deque()
        for task in tasks:
            futures.append(pool.submit(function, *task))
            if len(futures) > _WAITING * workers:
                yield futures.popleft().result()
        for future in futures:
            yield future.result()


def gathered(
    function: Callable[..., R],
    tasks: Sequence[tuple[Any, ...]],
    *,
    workers: int,
    waiting: Callable[[], object],
) -> list[R]:
    """Return the result of a function for each task, in the order of the tasks.

    Args:
        function: a module-level function, since it is called in other processes.
        tasks: the arguments of each call.
        workers: number of processes.
        waiting: called every second until everything is done.

    Raises:
        UserError: the function raised a UserError, or a process was killed.
    """
    with _pool(workers) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        left = set(futures)
        while left:
            done, left = concurrent.futures.wait(
                left, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                future.result()
            waiting()
        return [future.result() for future in futures]


def refuse_in_imported_main(name: str) -> None:
    """Refuse a call by the main module while a worker process imports that module.

    Args:
        name: the function that is called.

    Raises:
        UserError: the call is not guarded.
    """
    # multiprocessing sets this attribute for its own error, which would come too late.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UserError(
            f"{name}() starts processes that import this script: call it below "
            '`if __name__ == "__main__":`'
        )


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    # TensorFlow's threads do not survive a fork.
    pool = concurrent.futures.ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(registry.user_folders(),),
    )
    try:
        yield pool
    except BaseException as error:
        # The results of running tasks, which take minutes, would be lost in any case.
        for process in list((pool._processes or {}).values()):
            process.kill()
        if not isinstance(error, BrokenProcessPool):
            raise
        raise WorkerLost(
            "a worker process was killed; unless there is an error above, perhaps because memory "
            "ran out; finished shards are kept: run the same command again, if necessary with a "
            "smaller --num_workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start(user_folders: list[str]) -> None:
    _die_with_parent()
    # Modules in these folders may define annotation types.
    for folder in user_folders:
        registry.discover(folder)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: Any) -> None:
    parent.join()
    os._exit(1)
