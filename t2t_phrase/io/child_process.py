"""Commands that are run in processes of their own, and signals to them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import IO


class Signalled(BaseException):
    """A signal asked the command to end; raised in the main thread.

    Args:
        number: the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def call(command: Sequence[str], output: IO[str] | None = None) -> int:
    """Run a command to its end, passing on signals, and return its exit code.

    The command decides how to react: the trainer, for example, saves a checkpoint first.

    Args:
        command: the program and its arguments.
        output: a file for standard output and error; None: those of this process.

    Returns:
        The exit code; 128 plus the number of a signal that ended the command, or that it survived.
    """
    caught = 0
    error = None if output is None else subprocess.STDOUT
    # In its own session, so that Ctrl-C reaches the command only once: from here.
    with subprocess.Popen(command, stdout=output, stderr=error, start_new_session=True) as process:
        while True:
            try:
                status = process.wait()
                break
            except KeyboardInterrupt:
                caught = signal.SIGINT
            except Signalled as signalled:
                caught = signalled.number
            process.send_signal(caught)
    # A negative status stands for a signal.
    return 128 - status if status < 0 else status or (128 + caught if caught else 0)
