"""Ray on this machine alone, in processes that end with the test."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
_IMPORTED = ("docs/examples", "tests/support", ".")
START = """
import ray

ray.init(
    address="local", num_cpus=4, include_dashboard=False, object_store_memory=100_000_000,
    _node_ip_address="127.0.0.1", log_to_driver=False,
)


def say(text):
    print("RESULT", text, flush=True)


"""


def run_driver(program: str, *arguments: str, seconds: float = 500.0) -> list[str]:
    """Run a program that uses the examples and Ray; return what it says.

    Args:
        program: Python code; `ray` is initialised before, and `say` reports a line.
        *arguments: of the program.
        seconds: after which it is ended.
    """
    environment = {
        **os.environ,
        # Also for the workers, which import the examples.
        "PYTHONPATH": os.pathsep.join(str(ROOT / place) for place in _IMPORTED),
        "RAY_USAGE_STATS_ENABLED": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", START + program, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    # Ray prints lines of its own.
    lines = (line.partition("RESULT ") for line in done.stdout.split("\n"))
    return [said for before, mark, said in lines if mark and not before]
