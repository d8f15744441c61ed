"""Workers of the tests that end early, and lose no test."""

import pathlib
import re
import subprocess
import sys

import pytest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
CONFTEST = """
import recycled_workers

def pytest_xdist_make_scheduler(config, log):
    return recycled_workers.RecyclingScheduler(config, log, largest_mib={largest})

def pytest_testnodedown(node, error):
    recycled_workers.replace_worker(node)
"""
TESTS = """
import os
import pathlib
import subprocess
import pytest

LOG = pathlib.Path({log!r})

def alive():
    # Of the workers that have run a test, how many there still are.
    lines = LOG.read_text().splitlines() if LOG.exists() else []
    pids = ",".join({{str(os.getpid()), *(line.split()[2] for line in lines)}})
    printed = subprocess.run(["ps", "-o", "stat=", "-p", pids], capture_output=True, text=True)
    return sum(not state.startswith("Z") for state in printed.stdout.split())

@pytest.mark.parametrize("case", range({count}))
def test_it(case):
    line = f"{name} {{case}} {{os.getpid()}} {{alive()}}\\n"
    with LOG.open("a") as file:
        file.write(line)
    assert {name!r} != "b" or case != 1
"""


def run(folder, largest):
    """Run eight files of one to three tests, of which one fails; return output and log."""
    log = folder / "log"
    (folder / "conftest.py").write_text(CONFTEST.format(largest=largest))
    for name, count in zip("abcdefgh", (1, 3, 1, 2, 2, 2, 2, 2), strict=True):
        text = TESTS.format(count=count, log=str(log), name=name)
        (folder / f"test_{name}.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "-o",
        f"pythonpath={SUPPORT}",
        str(folder),
    ]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.stdout, [line.split() for line in log.read_text().splitlines()]


@pytest.mark.slow
def test_every_test_runs_once_in_fresh_workers(tmp_path):
    for name, largest in (("small", 0), ("large", 10**6)):
        folder = tmp_path / name
        folder.mkdir()
        output, written = run(folder, largest)
        assert re.search(r"1 failed, 14 passed", output), output
        assert len({(file, case) for file, case, *_ in written}) == len(written) == 15
        workers = {pid for _, _, pid, _ in written}
        assert len(workers) == 2 if name == "large" else len(workers) > 2
        # Workers that have ended leave no process behind; one may just be ending.
        most = max(int(alive) for *_, alive in written)
        assert most == 2 if name == "large" else most <= 4 < len(workers)
