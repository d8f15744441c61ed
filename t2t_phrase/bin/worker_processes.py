"""Worker processes on this machine and, by ssh, on others, which end together."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from t2t_phrase.io.signals import ASKING, handling

# Seconds that workers have to end on their own after one has failed, and again after they were
# asked to.
PATIENCE = 15.0
# The exit codes of a run that was asked to stop.
STOPPED = tuple(128 + number for number in ASKING)
# The byte that a terminal sends for Ctrl-C.
_INTERRUPT = b"\x03"


class Worker(NamedTuple):
    """A process to start."""

    host: str
    """The name of a machine; "localhost" and the name of this one need no ssh."""
    command: Sequence[str]
    """A program and its arguments."""
    environment: Mapping[str, str]
    """Variables that are added to those of the machine."""
    folder: str
    """The folder in which the process starts on another machine."""

    @property
    def is_here(self) -> bool:
        """Whether the worker runs on this machine."""
        return self.host in ("localhost", "127.0.0.1", socket.gethostname(), socket.getfqdn())

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, which does not receive signals of this process's terminal."""
        if self.is_here:
            command, variables = list(self.command), {**os.environ, **self.environment}
        else:
            # With its own terminal, the process ends with its connection and can be interrupted.
            command, variables = ["ssh", "-tt", self.host, self.remote_command()], {**os.environ}
        return subprocess.Popen(
            command,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def remote_command(self) -> str:
        """Return the command line for the shell of the other machine."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        command = shlex.join(["env", *variables, *self.command])
        # The shell of the other machine replaces a ~ that is not quoted.
        home = "~/" if self.folder.startswith("~/") else ""
        folder = home + shlex.quote(self.folder.removeprefix(home))
        return f"cd {folder} && exec {command}"


def run_workers(workers: Sequence[Worker], *, patience: float = PATIENCE) -> int:
    """Run all workers, print their output with their numbers, and return an exit code.

    The code is 0 if all workers exit with 0, else that of the first one to exit with another. If
    one fails, the others are ended soon after. SIGTERM, SIGHUP and Ctrl-C are passed on, so that
    training stops after its current step.

    Args:
        workers: the workers to run.
        patience: seconds that the others have to end after one has failed.

    Raises:
        OSError: standard output cannot be written, for example because its reader has ended; the
            workers have been asked to stop, and have ended.
    """
    started: list[subprocess.Popen[bytes]] = []
    threads: list[threading.Thread] = []
    faults: list[OSError] = []
    with _passed_on(workers, started) as asked:
        try:
            for number, worker in enumerate(workers):
                process = worker.start()
                started.append(process)
                if asked:
                    # The signal came before this process was among those that are asked.
                    _interrupt(worker, process)
                arguments = (process.stdout, number, faults)
                thread = threading.Thread(target=_print_lines, args=arguments, daemon=True)
                thread.start()
                threads.append(thread)
            failed = _wait(started, faults)
            if faults and not failed:
                _interrupt_all(workers, started)
                failed = _wait(started)
            if failed in STOPPED:
                # All have stopped at the same step, and the chief is still saving.
                for process in started:
                    process.wait()
            elif failed:
                _end(workers, started, patience)
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
    for thread in threads:
        thread.join(patience)
    if faults:
        raise faults[0]
    return failed


def _wait(started: Sequence[subprocess.Popen[bytes]], faults: Sequence[OSError] = ()) -> int:
    """Wait until all have ended or one has failed; return 0 or the code of the failed one.

    Args:
        started: the processes.
        faults: grows if output cannot be printed, which also ends the wait.
    """
    while not faults:
        codes = [process.poll() for process in started]
        for code in codes:
            if code:
                # The code by which shells report a process ended by a signal.
                return code if code > 0 else 128 - code
        if None not in codes:
            return 0
        time.sleep(0.1)
    return 0


def _end(
    workers: Sequence[Worker], started: Sequence[subprocess.Popen[bytes]], patience: float
) -> None:
    """Give processes time to end by themselves, then ask them to end."""
    for ask in (False, True):
        if ask:
            _interrupt_all(workers, started)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and any(p.poll() is None for p in started):
            time.sleep(0.1)


def _interrupt_all(workers: Sequence[Worker], started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask all processes that have been started to end."""
    for worker, process in zip(workers, started, strict=False):
        _interrupt(worker, process)


def _interrupt(worker: Worker, process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end."""
    if process.poll() is not None:
        return
    if worker.is_here:
        process.send_signal(signal.SIGTERM)
    elif process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(_INTERRUPT)
            process.stdin.flush()


@contextlib.contextmanager
def _passed_on(
    workers: Sequence[Worker], started: Sequence[subprocess.Popen[bytes]]
) -> Iterator[Sequence[int]]:
    """Pass SIGTERM, SIGHUP and Ctrl-C on to the workers, unless the caller ignores them.

    Yields the numbers of the signals so far.
    """
    asked: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        asked.append(number)
        _interrupt_all(workers, started)

    with handling(pass_on):
        yield asked


def _print_lines(stream: IO[bytes], number: int, faults: list[OSError]) -> None:
    """Print the lines of a worker; if that fails, add the fault to `faults`."""
    for line in stream:
        if faults:
            # Reading goes on: a worker whose output is not read would never end.
            continue
        text = line.decode(errors="replace").rstrip("\r\n")
        try:
            # One call for each line, since several threads print.
            sys.stdout.write(f"[{number}] {text}\n")
            sys.stdout.flush()
        except OSError as error:
            faults.append(error)
