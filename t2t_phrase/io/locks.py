"""Locks that keep a second process out of a folder; they end with the process that holds them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator

from t2t_phrase.config import UserError

# The message if another process writes the file that is named.
WRITING = "another process is writing {}; wait until it has finished, or name another output"


@contextlib.contextmanager
def exclusive(
    path: str | os.PathLike[str], *, busy: str = "", wait: bool = False
) -> Iterator[None]:
    """Hold a lock file, which is deleted at the end; on a file system without locks, do nothing.

    Args:
        path: the lock file, in a folder that exists.
        busy: the message if another process holds it.
        wait: whether to wait for that process instead.

    Raises:
        UserError: another process holds the lock.
        OSError: the file cannot be created.
    """
    file = open_locked(pathlib.Path(path), busy=busy, wait=wait)
    try:
        yield
    finally:
        # Deleted while it is held: a process that waits for it notices, see `open_locked`.
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(file)


def is_held(path: str | os.PathLike[str]) -> bool | None:
    """Return whether a live process holds a lock on a file or folder; None: unknown."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # The file system has no locks.
        return None
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def held(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock on an existing file or folder, which other processes see by `is_held`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def open_locked(
    path: pathlib.Path, *, busy: str = "", wait: bool = False, append: bool = False
) -> int:
    """Open a file and lock it until it is closed; create it if necessary.

    Args:
        path: the file, which only the holder of the lock may delete or rename.
        busy: the message if another process holds the lock.
        wait: whether to wait for that process instead.
        append: whether all writing is at the end of the file.

    Returns:
        The number of the open file.

    Raises:
        UserError: another process holds the lock.
        OSError: the file cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | (os.O_APPEND if append else 0)
    while True:
        file = os.open(path, flags, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(file)
            raise UserError(busy) from None
        except OSError:
            # The file system has no locks.
            return file
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        # The last holder deleted or renamed the file between opening and locking.
        os.close(file)
