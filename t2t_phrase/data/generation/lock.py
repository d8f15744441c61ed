"""A lock on the data of a problem, so that only one process writes them."""

from __future__ import annotations

import contextlib
import fcntl
import pathlib
from collections.abc import Iterator

from t2t_phrase.config import UserError
from t2t_phrase.files import explain_os_error


@contextlib.contextmanager
def exclusive(folder: pathlib.Path, base_name: str) -> Iterator[None]:
    """Refuse a second process that writes the same data; the lock ends with the process."""
    path = folder / f".{base_name}-lock"
    try:
        file = open(path, "w")  # noqa: SIM115
    except OSError as error:
        raise explain_os_error(error, path) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process is writing {base_name} to {folder}; wait until it has finished"
            ) from None
        except OSError:
            # The file system has no locks: continue without.
            pass
        yield
