"""Errors of the operating system, the memory, the network and TensorFlow as sentences for users."""

from __future__ import annotations

import errno
import re
import socket
import sys
from typing import NamedTuple

# The path is wrong, or leads to something of the wrong kind.
_WRONG_PATH = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENOTEMPTY,
    errno.ENAMETOOLONG,
    errno.ELOOP,
}
# The machine does not let the command use the path.
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY, errno.EBUSY, errno.ENXIO}
# The machine cannot do this now, whatever the path.
_EXHAUSTED = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.EAGAIN,
    errno.ESTALE,
}
_FREE_SPACE = "; free some space and run the same command again"
_REMEDIES = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: "; see `ulimit -f`",
    errno.EMFILE: "; see `ulimit -n`",
}
_NETWORK = (ConnectionError, TimeoutError, socket.gaierror, socket.herror)
_OUT_OF_MEMORY = re.compile(
    r"\bOOM when allocating|out of memory|OUT_OF_MEMORY|failed to allocate|bad_alloc", re.I
)
_SHAPE = re.compile(r"tensor with shape ?(\[[0-9,]*\])")
# Whether the machine failed, by the class of TensorFlow's errors with the text "PATH; REASON".
_PATH_ERRORS = {
    "NotFoundError": False,
    "AlreadyExistsError": False,
    "FailedPreconditionError": False,
    "OutOfRangeError": True,
    "PermissionDeniedError": True,
    "ResourceExhaustedError": True,
    "UnknownError": True,
    "UnavailableError": True,
}
_PATH = re.compile(r"(?:^|\s)(/.*|\S+); ([A-Z][a-z]+(?: [\w/-]+)*)\s*$", re.M)


class Explanation(NamedTuple):
    """An error message for the user.

    Attributes:
        sentence: the cause, and a remedy.
        machine: whether the machine failed, so that the same command may succeed later; otherwise
            the input of the command is wrong.
    """

    sentence: str
    machine: bool


def explain(error: BaseException) -> Explanation | None:
    """Return the explanation of an error that a user can do something about; None for bugs."""
    if isinstance(error, MemoryError):
        return _out_of_memory(str(error))
    if isinstance(error, OSError):
        return _os_error(error)
    if isinstance(error, UnicodeDecodeError):
        clip = bytes(error.object[max(0, error.start - 20) : error.end + 20])
        return Explanation(
            f"a file is not valid UTF-8: byte 0x{error.object[error.start]:02x} at position "
            f"{error.start}, in {clip!r}",
            machine=False,
        )
    if isinstance(error, RuntimeError) and "Symlink loop" in str(error):
        return Explanation(f"{error}: a symbolic link leads back to itself", machine=False)
    return _tensorflow_error(error) if is_tensorflow_error(error) else None


def is_tensorflow_error(error: BaseException | None) -> bool:
    """Return whether an error was raised by TensorFlow, which need not be loaded."""
    tensorflow = sys.modules.get("tensorflow")
    errors = getattr(tensorflow, "errors", None)
    return errors is not None and isinstance(error, errors.OpError)


def without_nodes(message: str) -> str:
    """Return a message of TensorFlow without the names of nodes and devices."""
    message = re.sub(r"Detected at node .*?\n(?=\S)", "", message, flags=re.S)
    message = re.sub(r"\s*\{\{.*?\}\}|\s*\[\[.*?\]\]|\s*\[Op:[^\]]*\]", "", message, flags=re.S)
    return re.sub(r" on /job:\S+| by allocator \S+|\s*\bname: *$", "", message).strip()


def _os_error(error: OSError) -> Explanation | None:
    if isinstance(error, BrokenPipeError):
        return None
    if isinstance(error, _NETWORK) or type(error).__name__ in ("URLError", "HTTPError"):
        return Explanation(f"the network failed: {error}; try again later", machine=True)
    reason = error.strerror or str(error)
    if "temporary directory" in reason or "temporary file name" in reason:
        return Explanation(f"{reason}; set TMPDIR to a folder with free space", machine=True)
    paths = [_text(path) for path in (error.filename, error.filename2) if _is_path(path)]
    if error.errno in _EXHAUSTED:
        what = " and ".join(paths) or "standard output or a file"
        return Explanation(f"{what}: {reason}{_REMEDIES.get(error.errno, '')}", machine=True)
    if paths and error.errno in _WRONG_PATH | _REFUSED:
        sentence = f"cannot use {' and '.join(paths)}: {reason}"
        return Explanation(sentence, machine=error.errno in _REFUSED)
    return None


def _is_path(path: object) -> bool:
    return isinstance(path, (str, bytes)) and bool(path)


def _text(path: str | bytes) -> str:
    return path.decode(errors="backslashreplace") if isinstance(path, bytes) else path


def _out_of_memory(message: str) -> Explanation:
    shape = _SHAPE.search(message)
    tensor = f" for a tensor of shape {shape[1]}" if shape else ""
    return Explanation(
        f"out of memory{tensor}: use smaller batches or a smaller model (batch_size and "
        "max_length in --hparams or --decode_hparams), or use a machine with more memory",
        machine=True,
    )


def _tensorflow_error(error: BaseException) -> Explanation | None:
    message, kind = str(error), type(error).__name__
    if _OUT_OF_MEMORY.search(message):
        return _out_of_memory(message)
    if kind in _PATH_ERRORS and (found := _PATH.search(without_nodes(message))):
        return Explanation(f"cannot use {found[1]}: {found[2]}", machine=_PATH_ERRORS[kind])
    if kind in ("NotFoundError", "PermissionDeniedError") and "directory" in message:
        return Explanation(without_nodes(message), machine=kind == "PermissionDeniedError")
    if kind == "ResourceExhaustedError":
        return _out_of_memory(message)
    if kind == "DataLossError":
        return Explanation(f"a file is damaged: {without_nodes(message)}", machine=False)
    if kind in ("UnavailableError", "DeadlineExceededError"):
        sentence = f"another process or machine does not answer: {without_nodes(message)}"
        return Explanation(sentence, machine=True)
    return None
