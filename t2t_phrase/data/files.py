"""Whole files or none: atomic writing, checksums, and what a full disk says."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from t2t_phrase.config import UserError


@contextlib.contextmanager
def atomic(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield a temporary path beside `path`, renamed to it when the block ends without an error.

    Raises:
        UserError: the disk is full, or the folder cannot be written.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise explain_os_error(error, path) from error


def write_bytes(path: pathlib.Path, content: bytes) -> None:
    """Write a whole file atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def sha256_of(path: pathlib.Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def explain_os_error(error: OSError, path: pathlib.Path) -> UserError:
    """Return the error as a sentence; a full disk says what is kept and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path)
    return UserError(f"cannot write {path}: {error.strerror or error}")


def disk_full(path: pathlib.Path) -> UserError:
    """Return the sentence for a disk that is full while `path` is written."""
    folder = path.parent
    free = shutil.disk_usage(folder).free if folder.is_dir() else 0
    return UserError(
        f"no space left while writing {path} ({free / 2**20:.0f} MiB free there); files that were "
        "finished are kept: free some space and run the same command again to go on"
    )
