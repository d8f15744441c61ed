"""The folder of served versions: each appears only when complete, and nothing else is left."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.io import locks
from t2t_phrase.io.files import WriteError, explain_os_error, reason_of, sync

# Not a number, so a server that watches the folder does not look inside.
_PREFIX = ".unfinished-"
_LOCK = ".lock"
# The path is wrong; the machine has not failed.
_MISTAKES = {errno.EEXIST, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR}
_WRITING = (
    tf.errors.FailedPreconditionError,
    tf.errors.NotFoundError,
    tf.errors.OutOfRangeError,
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnknownError,
)


def check_loadable(folder: pathlib.Path) -> None:
    """Check that TensorFlow can load from a folder.

    Raises:
        UserError: the path contains wildcards, which TensorFlow would expand.
    """
    if re.search(r"[\[\]*?\\]", os.path.abspath(folder)):
        raise UserError(
            f"--export_dir={folder}: TensorFlow treats [ ] * ? \\ in a path as patterns and cannot "
            "load a SavedModel from there; give another folder"
        )


@contextlib.contextmanager
def staging(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield an empty folder to write a version to; it is deleted if it is not published.

    Leftovers of killed exports are removed first; several exports may run at the same time.

    Args:
        folder: the folder of all versions; created if it does not exist.

    Raises:
        UserError: the path is wrong.
        WriteError: the folder is protected, or the disk is full or fails.
    """
    with contextlib.ExitStack() as stack:
        try:
            existed = folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            if not existed:
                stack.push(functools.partial(_remove_after_failure, folder))
            with locks.exclusive(folder / _LOCK, wait=True):
                _remove_abandoned(folder)
                temporary = pathlib.Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
                stack.callback(shutil.rmtree, temporary, ignore_errors=True)
                # Other exports see that this one is alive.
                stack.enter_context(locks.held(temporary))
            yield temporary
        except UserError:
            raise
        except OSError as error:
            if error.errno not in _MISTAKES:
                raise explain_os_error(error, folder) from error
            raise UserError(f"cannot write {folder}: {error.strerror or error}") from error
        except _WRITING as error:
            # "PATH; No space left on device"; without a path, a graph ran out of memory.
            if "; " not in str(error.message).splitlines()[0]:
                raise
            raise WriteError(f"cannot write {folder}: {reason_of(error)}") from error


def publish(temporary: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Give a complete version the next number and return its folder, once it is on disk."""
    for place, _, names in os.walk(temporary):
        for name in names:
            sync(pathlib.Path(place, name))
        sync(pathlib.Path(place))
    # mkdtemp makes folders that only their owner may read; a server often runs as another user.
    temporary.chmod(0o755)
    while True:
        versions = [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
        target = folder / str(max(versions, default=0) + 1)
        try:
            os.rename(temporary, target)
        except OSError as error:
            # Another export took the number in the meantime.
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        else:
            sync(folder)
            return target


def _remove_abandoned(folder: pathlib.Path) -> None:
    for path in folder.iterdir():
        if path.name.startswith(_PREFIX) and locks.is_held(path) is False:
            shutil.rmtree(path, ignore_errors=True)


def _remove_after_failure(folder: pathlib.Path, error: type[BaseException] | None, *_: Any) -> None:
    # After a success, nothing more changes: a process killed then must have exported only once.
    if error is not None:
        with contextlib.suppress(OSError):
            folder.rmdir()
