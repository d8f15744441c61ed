"""Commands whose memory and disk space are watched while they run."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from typing import NamedTuple

INTERVAL = 0.2


class Watched(NamedTuple):
    """Time, memory and disk space of a command."""

    seconds: float
    peak_mib: float
    """Memory of all its processes together, without mapped files."""
    peak_disk_bytes: int
    """The largest growth of the used disk space."""
    killed: bool
    output: str


def watch(command: list[str], folder: pathlib.Path, *, kill_after: float = 0.0) -> Watched:
    """Run a command; its output also goes to a file.

    Args:
        command: to run.
        folder: a folder on the disk that is watched, for the file of the output.
        kill_after: seconds after which its process is killed; 0: never.
    """
    log = folder / "output.log"
    before = shutil.disk_usage(folder).used
    start = time.monotonic()
    memory = disk = 0
    killed = False
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            memory = max(memory, sum(map(anonymous, descendants(process.pid))))
            disk = max(disk, shutil.disk_usage(folder).used - before)
            if kill_after and time.monotonic() - start >= kill_after:
                workers = descendants(process.pid)[1:]
                process.send_signal(signal.SIGKILL)
                killed = True
                process.wait()
                wait_for(workers)
                break
            time.sleep(INTERVAL)
    text = log.read_text(encoding="utf-8")
    if process.returncode and not killed:
        raise SystemExit(f"{' '.join(command)}\n{text[-3000:]}")
    return Watched(time.monotonic() - start, memory / 2**20, disk, killed, text)


def wait_for(processes: list[int], seconds: float = 60.0) -> None:
    """Wait until the workers of a killed command have ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(anonymous, processes)):
        time.sleep(0.1)


def descendants(root: int) -> list[int]:
    """Return a process and all its descendants."""
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = pathlib.Path(entry.path, "stat").read_text(
                    encoding="utf-8", errors="replace"
                )
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def anonymous(process: int) -> int:
    """Return the bytes of a process's anonymous memory; 0: there is no such process."""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"RssAnon:\s+(\d+)", status)
    return int(found[1]) * 1024 if found else 0
