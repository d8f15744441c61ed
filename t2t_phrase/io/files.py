"""Atomic writing of files, checks of output paths, and messages for failed writes."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import pathlib
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator

from t2t_phrase.config import UserError
from t2t_phrase.io.locks import WRITING, open_locked

StrPath = str | os.PathLike[str]


def expanded(path: StrPath) -> pathlib.Path:
    """Return a path with `~` replaced by the home folder, if that is known."""
    # pathlib's own method raises an error for a user that does not exist.
    return pathlib.Path(os.path.expanduser(path))


class WriteError(UserError, OSError):
    """A file could not be written; the message names the file and the reason."""

    exit_code = 3


@contextlib.contextmanager
def atomic(path: StrPath) -> Iterator[pathlib.Path]:
    """Yield a temporary path whose content becomes that of `path` once the block has ended.

    The content is on disk before the name changes, so after a crash `path` holds either the old or
    the new content. If `path` is a symbolic link, the file that it points to is replaced; the mode
    of an existing file is kept. Anything but a regular file, such as a pipe, `/dev/null` or
    `/dev/stdout`, is written to and never replaced. After an error, the temporary file is deleted;
    one left behind by a kill is overwritten by the next write to the same path. It is locked, so
    that two processes never write it at once.

    Args:
        path: the file to write. The temporary file is in the same folder and has the same name
            with `.tmp` appended; if `path` is not a regular file, it is in the system's folder for
            temporary files.

    Raises:
        UserError: another process is writing the file.
        WriteError: the disk is full, or the file or its folder is not writable.
        BrokenPipeError: `path` is a pipe that is no longer read.
    """
    try:
        if is_special(path):
            with tempfile.TemporaryDirectory() as folder:
                temporary = pathlib.Path(folder, "content")
                yield temporary
                with open(temporary, "rb") as content, open_special(path) as file:
                    shutil.copyfileobj(content, file)
            return
        target = real_path(path)
        temporary = target.with_name(f"{target.name}.tmp")
        lock = open_locked(
            temporary,
            busy=WRITING.format(path),
        )
        try:
            yield temporary
            install(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(lock)
    except OSError as error:
        if isinstance(error, UserError | BrokenPipeError):
            raise
        raise explain_os_error(error, path) from error


def write(path: StrPath, content: str | bytes) -> None:
    """Write a file atomically; text is written as UTF-8 and keeps its line ends.

    Raises:
        UserError, WriteError: as for `atomic`.
    """
    with atomic(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def install(temporary: pathlib.Path, target: pathlib.Path) -> None:
    """Give a finished file its name, and the mode of the file that it replaces.

    Raises:
        OSError: `target` is a folder, or write-protected.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    sync(temporary)
    os.replace(temporary, target)
    sync(target.parent)


def real_path(path: StrPath) -> pathlib.Path:
    """Return a path with `~` and symbolic links resolved; the file need not exist.

    Raises:
        OSError: the links form a cycle.
    """
    found = pathlib.Path(os.path.realpath(expanded(path)))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return found


def is_special(path: StrPath) -> bool:
    """Return whether a path is neither a regular file or folder nor the name of a new file.

    This includes `/dev/stdout` and `/dev/fd/N`, whatever they are redirected to: a file that a
    shell has opened must not be replaced.
    """
    place = expanded(path)
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _descriptor(place) is not None


def open_special(path: StrPath) -> io.FileIO:
    """Open a path that `is_special` for writing; for a named pipe, wait for its reader.

    Raises:
        OSError: the file cannot be opened.
    """
    place = expanded(path)
    descriptor = _descriptor(place)
    # A pipe or file that is already open must not be opened again, from its beginning.
    number = os.open(place, os.O_WRONLY) if descriptor is None else os.dup(descriptor)
    return io.FileIO(number, "w")


def refuse_inputs(output: StrPath | None, inputs: Iterable[StrPath | None]) -> None:
    """Refuse an output that is one of the inputs, under any name, before anything is lost.

    Files are the same if they are the same on disk: `./x`, symbolic and hard links count. So do the
    files kept beside the output while it is written, `OUTPUT.part` and `OUTPUT.tmp`.

    Args:
        output: the output; None: standard output, which may be redirected to a file.
        inputs: the inputs; None: standard input.

    Raises:
        UserError: the output is an input.
    """
    if output is None:
        written = [_status(1)]
    else:
        real = os.path.realpath(expanded(output))
        written = [_status(f"{real}{ending}") for ending in ("", ".part", ".tmp")]
    for given in inputs:
        read = _status(0 if given is None else expanded(given))
        if read is None or not (stat.S_ISREG(read.st_mode) or stat.S_ISFIFO(read.st_mode)):
            continue  # a terminal or /dev/null may be both
        if any(found and os.path.samestat(found, read) for found in written):
            name = "standard output" if output is None else str(output)
            raise UserError(
                f"{name} would overwrite the input {given or 'on standard input'}; give another "
                "name for the output"
            )


def sha256_of(path: StrPath) -> str:
    """Return the SHA-256 checksum of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(expanded(path), "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def explain_os_error(error: OSError, path: StrPath | None) -> WriteError:
    """Return the error of a failed write as a message for the user.

    Args:
        error: the error.
        path: the file; None: standard output.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path)
    return WriteError(f"cannot write {path or 'standard output'}: {reason_of(error)}")


def reason_of(error: Exception) -> str:
    """Return the reason why a file could not be written.

    Args:
        error: an error of the system, or of TensorFlow: "NODE PATH; REASON [Op:NAME]".
    """
    reason = getattr(error, "strerror", None) or str(getattr(error, "message", "") or error)
    first = (reason.splitlines() or [type(error).__name__])[0]
    reason = re.sub(r"\s*\[Op:\w+\]$", "", first).rpartition("; ")[2]
    if reason == os.strerror(errno.EFBIG):
        return "it is larger than this process may write (ulimit)"
    return reason


def disk_full(path: StrPath | None) -> WriteError:
    """Return the error for a disk that filled up while a file was being written.

    Args:
        path: the file; None: standard output.
    """
    if path is None or is_special(path):
        return WriteError(
            f"no space left while writing {path or 'standard output'}, which is incomplete; free "
            "some space and start again"
        )
    folder = expanded(path).parent
    free = ""
    if folder.is_dir():
        free = f" ({shutil.disk_usage(folder).free / 2**20:.0f} MiB free there)"
    return WriteError(
        f"no space left while writing {path}{free}; finished files are kept: free some space and "
        "run the same command again to continue"
    )


def _status(file: StrPath | int) -> os.stat_result | None:
    """Return the status of a path or file descriptor; None if it does not exist."""
    try:
        return os.stat(file)
    except OSError:
        return None


def _descriptor(path: pathlib.Path) -> int | None:
    """Return the number of the open file that a path such as `/dev/stdout` stands for."""
    opened = re.compile(rf"/proc/{os.getpid()}(/task/\d+)?/fd|/dev/fd")
    for _ in range(40):  # as many links as Linux follows
        folder = os.path.realpath(path.parent)
        if opened.fullmatch(folder) and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = pathlib.Path(folder, os.readlink(path))
    return None


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
