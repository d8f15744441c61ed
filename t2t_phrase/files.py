"""Files that are written completely or not at all, checksums, and messages for failed writes."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from t2t_phrase.config import UserError

StrPath = str | os.PathLike[str]


class WriteError(UserError, OSError):
    """A file could not be written; the message names the file and the reason."""

    exit_code = 3


@contextlib.contextmanager
def atomic(path: StrPath) -> Iterator[pathlib.Path]:
    """Yield a temporary path that replaces `path` once the block has ended without an error.

    The content is on disk before the name changes, so after a crash `path` holds either the old or
    the new content. If `path` is a symbolic link, the file that it points to is replaced. After an
    error the temporary file is deleted.

    Args:
        path: the file to write. The temporary file is in the same folder and has the same name
            with `.tmp` appended.

    Raises:
        WriteError: the disk is full, or the folder is not writable.
    """
    target = pathlib.Path(os.path.realpath(pathlib.Path(path).expanduser()))
    temporary = target.with_name(target.name + ".tmp")
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, target)
        sync(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, UserError):
            raise explain_os_error(error, path) from error
        raise


def write(path: StrPath, content: str | bytes) -> None:
    """Write a file atomically; text is written as UTF-8 and keeps its line ends.

    Raises:
        WriteError: as `atomic`.
    """
    with atomic(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def sha256_of(path: StrPath) -> str:
    """Return the SHA-256 checksum of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def explain_os_error(error: OSError, path: StrPath) -> WriteError:
    """Return the error of a failed write as a message for the user."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path)
    return WriteError(f"cannot write {path}: {error.strerror or error}")


def disk_full(path: StrPath) -> WriteError:
    """Return the error of a disk that ran full while `path` was being written."""
    folder = pathlib.Path(path).parent
    free = shutil.disk_usage(folder).free if folder.is_dir() else 0
    return WriteError(
        f"no space left while writing {path} ({free / 2**20:.0f} MiB free there); finished files "
        "are kept: free some space and run the same command again to continue"
    )


def sync(path: pathlib.Path) -> None:
    """Wait until a file or the entries of a folder are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot synchronise folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
