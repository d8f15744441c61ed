"""Claims a folder to write a run to: creates it, keeps other processes out, and tidies it."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
from collections.abc import Iterator

from t2t_phrase.config import UserError
from t2t_phrase.io import locks
from t2t_phrase.io.files import WriteError, explain_os_error
from t2t_phrase.runs.leftovers import remove_leftovers

LOCK = ".lock"
# The path is wrong; the machine has not failed.
_MISTAKES = {
    errno.EEXIST,
    errno.EINVAL,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
}
# The path is protected.
_PROTECTED = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextlib.contextmanager
def writing(folder: str | os.PathLike[str], *, flag: str = "--output_dir") -> Iterator[None]:
    """Keep other processes from writing to a folder, which is created if it does not exist.

    Leftovers of killed processes are removed first. At the end, folders that were created and
    are still empty are removed, so that a mistake leaves nothing behind.

    Args:
        folder: the folder of a run, or of an average.
        flag: the flag that names the folder in messages.

    Raises:
        UserError: the path is wrong, or another process is writing to it.
        WriteError: the folder is protected, or the disk is full or fails.
    """
    place = pathlib.Path(folder)
    created: list[pathlib.Path] = []
    with contextlib.ExitStack() as stack:
        stack.callback(_remove_empty, created)
        try:
            _create(place, created)
            busy = (
                f"{flag}={folder}: another process is writing there; wait for it, or give another "
                "folder"
            )
            stack.enter_context(locks.exclusive(place / LOCK, busy=busy))
        except OSError as error:
            if error.errno not in _MISTAKES | _PROTECTED:
                raise explain_os_error(error, folder) from error
            kind = WriteError if error.errno in _PROTECTED else UserError
            raise kind(
                f"{flag}={folder} cannot be written: {_reason(error, place)}; give another folder"
            ) from error
        for name in (place, place / "best"):
            remove_leftovers(name)
        yield


def _create(place: pathlib.Path, created: list[pathlib.Path]) -> None:
    missing = []
    while not os.path.lexists(place):
        missing.append(place)
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(place))
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        created.append(path)


def _remove_empty(created: list[pathlib.Path]) -> None:
    for path in reversed(created):
        with contextlib.suppress(OSError):
            path.rmdir()


def _reason(error: OSError, place: pathlib.Path) -> str:
    if isinstance(error, NotADirectoryError):
        blocking = place
        while not os.path.lexists(blocking):
            blocking = blocking.parent
        return f"{blocking} is not a folder"
    return error.strerror or str(error)
