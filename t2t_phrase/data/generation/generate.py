"""Makes vocabularies and record shards from a raw corpus, in steps that can be resumed."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.task_generation import TaskGeneration
from t2t_phrase.data.generation.tasks import Task
from t2t_phrase.data.generation.whole_generation import WholeGeneration
from t2t_phrase.data.problem import Problem
from t2t_phrase.io import locks
from t2t_phrase.io.files import expanded, explain_os_error


def generate(
    problem: Problem,
    data_dir: str,
    tmp_dir: str,
    *,
    options: GenerateOptions = GenerateOptions(),  # noqa: B008 (immutable)
    log: Log,
    only_vocabulary: bool = False,
) -> Manifest:
    """Write vocabularies, record shards and kept text; continue where an earlier run stopped.

    A run that was killed may be repeated with other raw files or options: files that do not fit
    them are made again. Once the data are complete, models may depend on them: damaged files are
    repaired, but other raw files or options are refused. If tasks have made the training shards,
    the data are completed from them.

    Args:
        problem: what to generate; both directions of a problem share their data.
        data_dir: where the data go.
        tmp_dir: where the raw corpus is, or where it is downloaded to.
        options: deviations from the problem's defaults.
        log: takes one line of progress.
        only_vocabulary: stop once the vocabulary, which tasks need, exists.

    Raises:
        UserError: the raw corpus is missing or faulty, the disk is full or clearly too small, a
            task has not finished, or `data_dir` holds complete data of this problem made with other
            options or from other raw files.
    """
    folder = expanded(data_dir)
    base = problem.base_name
    busy = f"another process is writing {base} to {folder}; wait until it has finished"
    lock = folder / f".{base}-lock"
    with _locked(lock, busy=busy):
        if any(map(locks.is_held, folder.glob(f".{base}-task-*-lock"))):
            raise UserError(busy)
        whole = WholeGeneration(problem, folder, tmp_dir, options, log)
        return whole.run(only_vocabulary=only_vocabulary)


def generate_task(
    problem: Problem,
    data_dir: str,
    tmp_dir: str,
    task: Task,
    *,
    options: GenerateOptions,
    log: Log,
) -> None:
    """Write the training shards and the record of one task; continue where an earlier run stopped.

    The vocabulary must be in `data_dir`, or be given. Tasks share one folder, or their files are
    copied to one; `generate` completes the data there.

    Args:
        problem: what to generate.
        data_dir: where the data go.
        tmp_dir: where the raw corpus is, or where it is downloaded to.
        task: the task, which determines its share of the shards.
        options: as for `generate`.
        log: takes one line of progress.

    Raises:
        UserError: there is no vocabulary; the options, raw files or vocabulary differ from those of
            other tasks or of the data; or as for `generate`.
    """
    folder = expanded(data_dir)
    base = problem.base_name
    busy = f"another process is running {task} of {base} in {folder}; wait until it has finished"
    with _locked(task.lock_path(folder, base), busy=busy):
        if locks.is_held(folder / f".{base}-lock"):
            raise UserError(
                f"another process is writing {base} to {folder}; wait until it has finished"
            )
        TaskGeneration(problem, folder, tmp_dir, options, task, log).run()


@contextlib.contextmanager
def _locked(lock: pathlib.Path, *, busy: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locks.exclusive(lock, busy=busy))
        except OSError as error:
            raise explain_os_error(error, lock.parent) from error
        yield
