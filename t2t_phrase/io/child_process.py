"""Commands that are run in processes of their own, and signals to them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import IO, Any

from t2t_phrase.io.signals import handling


def call(command: Sequence[str], output: IO[str] | None = None) -> int:
    """Run a command to its end, passing on signals, and return its exit code.

    The command decides how to react: the trainer, for example, saves a checkpoint first. Only the
    main thread may call this.

    Args:
        command: the program and its arguments.
        output: a file for standard output and error; None: those of this process.

    Returns:
        The exit code; 128 plus the number of a signal that ended the command, or that it survived.
    """
    caught = early = 0
    started: subprocess.Popen[Any] | None = None

    # An exception would be raised wherever the signal arrives, also where nothing catches it.
    def pass_on(number: int, frame: object) -> None:
        nonlocal caught, early
        caught = number
        if started is None:
            early = number
        else:
            started.send_signal(number)

    error = None if output is None else subprocess.STDOUT
    # In its own session, so that Ctrl-C reaches the command only once: from here.
    with (
        handling(pass_on),
        subprocess.Popen(command, stdout=output, stderr=error, start_new_session=True) as process,
    ):
        started = process
        if early:
            process.send_signal(early)
        status = process.wait()
    # A negative status stands for a signal.
    return 128 - status if status < 0 else status or (128 + caught if caught else 0)
