"""Runs commands in forks of a process that has imported TensorFlow; can make them fail."""

from __future__ import annotations

import dataclasses
import errno
import importlib
import json
import multiprocessing
import os
import pathlib
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

# Importing takes seconds; the fork server does it once for all commands.
_PRELOADED = ("tensorflow", "tensorflow_text", "keras", "sentencepiece", "nltk", "sacrebleu")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong in a command.

    Attributes:
        operation: number, from 0, of the change to the file system at which it happens: a file
            opened for writing, a name replaced or deleted, a folder made.
        error: name of the error that the operation fails with, such as ENOSPC; "": the process is
            killed just before the operation. Every later operation fails with the same error.
        seconds: instead of at an operation, the process is killed after so many seconds.
        file_size: instead, no file may grow above so many bytes.
    """

    operation: int | None = None
    error: str = ""
    seconds: float | None = None
    file_size: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended.

    Attributes:
        code: exit code; -9 if it was killed.
        out, err: what it printed.
        operations: its changes to the file system, such as "os.rename data/.x.tmp data/x"; empty if
            it was killed.
        seconds: that it ran.
    """

    code: int
    out: str
    err: str
    operations: list[str]
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether the fault has killed it."""
        return self.code == -signal.SIGKILL

    @property
    def sentence(self) -> str:
        """The error message; fails if there is none, or anything like a traceback."""
        said = self.out + self.err
        assert "Traceback" not in said, said
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and self.code in (2, 3), (self.code, said)
        return lines[0]


def run(
    command: str,
    flags: Sequence[str],
    folder: pathlib.Path,
    *,
    fault: Fault = Fault(),
    setup: str = "",
) -> Ended:
    """Run a command and wait for its end.

    Args:
        command: name of a module in `t2t_phrase.bin`.
        flags: of the command.
        folder: changes below it count as operations.
        fault: what goes wrong.
        setup: `module:function` to call in the process first.
    """
    logs = folder.parent / f"{folder.name}-logs"
    logs.mkdir(exist_ok=True)
    operations = logs / "operations.json"
    operations.unlink(missing_ok=True)
    arguments = (command, tuple(flags), str(folder), str(operations), fault, setup)
    ended = _wait(_command, arguments, seconds=fault.seconds)
    if not operations.exists():
        return ended
    return dataclasses.replace(ended, operations=json.loads(operations.read_text()))


def run_source(source: str, *arguments: str) -> Ended:
    """Run Python code, as `python -c SOURCE ARGUMENTS` does, and wait for its end."""
    return _wait(_source, (source, arguments))


def _wait(target: Callable[..., None], arguments: Any, seconds: float | None = None) -> Ended:
    # Read when TensorFlow is imported, which the fork server does.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    # Pipes, because a limit of file sizes would hold for files.
    (out, out_end), (err, err_end) = (context.Pipe(duplex=False) for _ in range(2))
    process = context.Process(target=_child, args=((out_end, err_end), target, arguments))
    start = time.monotonic()
    process.start()
    said = [_Drain(out, out_end), _Drain(err, err_end)]
    process.join(1000 if seconds is None else seconds)
    if process.is_alive():
        process.kill()
        process.join()
        assert seconds is not None, f"{arguments} did not end"
    return Ended(
        code=process.exitcode or 0,
        out=said[0].text(),
        err=said[1].text(),
        operations=[],
        seconds=time.monotonic() - start,
    )


class _Drain:
    """Collects what a process writes to a pipe."""

    def __init__(self, reader: Connection, writer: Connection) -> None:
        # Else the pipe stays open when the process has ended.
        writer.close()
        self._reader = reader
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while part := os.read(self._reader.fileno(), 2**16):
            self._parts.append(part)

    def text(self) -> str:
        self._thread.join()
        self._reader.close()
        return b"".join(self._parts).decode(errors="replace")


def _child(pipes: Sequence[Connection], target: Callable[..., None], arguments: Any) -> None:
    for descriptor, pipe in enumerate(pipes, start=1):
        os.dup2(pipe.fileno(), descriptor)
        pipe.close()
    # Those of the fork server remember what their descriptors were.
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    target(*arguments)


def _source(source: str, arguments: Sequence[str]) -> None:
    sys.argv = ["-c", *arguments]
    exec(compile(source, "<source>", "exec"), {"__name__": "__main__"})


def _command(
    command: str, flags: Sequence[str], folder: str, operations: str, fault: Fault, setup: str
) -> None:
    if setup:
        module, _, function = setup.partition(":")
        getattr(importlib.import_module(module), function)()
    started = importlib.import_module(f"t2t_phrase.bin.{command}")
    sys.argv = [f"t2t-phrase-{command}", *flags]
    if fault.file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.file_size, resource.RLIM_INFINITY))
    watch = _Watch(folder, fault)
    sys.addaudithook(watch)
    try:
        started.run()
    finally:
        watch.active = False
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        pathlib.Path(operations).write_text(json.dumps(watch.operations))


class _Watch:
    """An audit hook that counts changes below a folder and fails one of them."""

    def __init__(self, folder: str, fault: Fault) -> None:
        self.active = True
        self.operations: list[str] = []
        self._folder = os.path.realpath(folder)
        self._fault = fault

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        paths = self._changed(event, arguments) if self.active else []
        if not paths:
            return
        number = len(self.operations)
        self.operations.append(" ".join([event, *paths]))
        at = self._fault.operation
        if at is None or number < at:
            return
        if not self._fault.error:
            os.kill(os.getpid(), signal.SIGKILL)
        if not event.startswith(("os.remove", "os.rmdir")):
            code = getattr(errno, self._fault.error)
            raise OSError(code, os.strerror(code), paths[0])

    def _changed(self, event: str, arguments: tuple[Any, ...]) -> list[str]:
        if event == "open":
            path, _, flags = arguments
            found = [path] if flags & _WRITING and isinstance(path, str | bytes) else []
        elif event in ("os.rename", "os.link", "os.symlink"):
            found = list(arguments[:2])
        elif event in ("os.remove", "os.mkdir", "os.rmdir", "os.truncate"):
            found = [arguments[0]]
        else:
            found = []
        start = "."
        if event in ("os.remove", "os.rmdir") and arguments[-1] != -1:
            # When whole folders are deleted, names are relative to an open folder.
            start = os.readlink(f"/proc/self/fd/{arguments[-1]}")
        paths = [
            os.path.join(start, os.fsdecode(path)) for path in found if not isinstance(path, int)
        ]
        # The last part may be a symbolic link, which is then what is changed.
        paths = [
            os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            for path in paths
        ]
        if not any(path.startswith(self._folder + os.sep) for path in paths):
            return []
        return [path.removeprefix(self._folder + os.sep) for path in paths]
