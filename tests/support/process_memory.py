"""The memory that a process holds."""

from __future__ import annotations

import subprocess


def resident_mib(pid: int) -> float:
    """Return the resident memory of process `pid` in MiB; 0 if there is no such process."""
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return int(printed.strip() or 0) / 1024
