"""Processes that are killed in the middle of their work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_CHANGES = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree")


def killed_after(operations: int, function: Callable[[], Any]) -> int:
    """Call a function in a child process that ends, as by `kill -9`, before a file operation.

    What it has not written to the operating system is lost, and no clean-up runs. Returns the exit
    status, which is 0 if the function ended before.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = operations

    def count(event: str, arguments: Any) -> None:
        nonlocal left
        if event in _CHANGES:
            left -= 1
            if left < 0:
                os._exit(9)

    try:
        sys.addaudithook(count)
        function()
        os._exit(0)
    finally:
        os._exit(1)
