"""Compares the speed of two commits, one timed run of each in turn.

    python benchmarks/compare_commits.py --base=HEAD~1 -- train_step.py --sizes=32
    python benchmarks/compare_commits.py --base=HEAD~1 --hparams_set=transformer_big -- decode.py
    python benchmarks/compare_commits.py --base=HEAD --base_environment=TF_ENABLE_ONEDNN_OPTS=0 \\
        -- decode.py

Both commits are unpacked into temporary folders and run in separate processes that take turns, one
update or one decoded batch at a time, so that anything that slows the machine down slows both. The
median of (time of base / time of new) over all pairs is printed for everything that the benchmark
times, in this order; above 1 the new commit is faster. Benchmarks that use
`measure.median_seconds` can be compared.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from script import run_script

# Runs a benchmark with a function `timed` in place of `measure.median_seconds`.
_START = """
import functools, runpy, sys, time
folder, hparams_set, script, *options = sys.argv[1:]
sys.path.insert(0, folder)
import measure
"""
_END = """
measure.median_seconds = timed
measure.matrix_rate = lambda *_: 1.0
measure.base_model = functools.partial(measure.base_model, name=hparams_set)
sys.argv = [script, *options]
runpy.run_path(f"{folder}/{script}", run_name="__main__")
"""
# Each timed run waits for its turn.
_IN_TURNS = """
def timed(run, *, repeats):
    run()
    print("ready", flush=True)
    while sys.stdin.readline().strip() == "run":
        start = time.perf_counter()
        run()
        print("seconds", time.perf_counter() - start, flush=True)
    return 1.0
"""


def start_benchmark(
    commit: str,
    folder: pathlib.Path,
    hparams_set: str,
    command: list[str],
    timed: str,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a benchmark of a commit in a separate process.

    Args:
        commit: a revision.
        folder: a new folder, into which the commit is unpacked.
        hparams_set: the hparams set that is timed.
        command: script in benchmarks/ and its options.
        timed: Python that defines `timed(run, *, repeats)`, which is called in place of
            `measure.median_seconds`.
        environment: variables to set, beside those of this process.
    """
    unpack(commit, folder)
    program = _START + timed + _END
    return subprocess.Popen(
        [sys.executable, "-c", program, f"{folder}/benchmarks", hparams_set, *command],
        env={**os.environ, **(environment or {}), "PYTHONPATH": str(folder)},
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


class Commit:
    """A benchmark of one commit in a separate process."""

    def __init__(
        self,
        commit: str,
        folder: pathlib.Path,
        hparams_set: str,
        command: list[str],
        environment: Mapping[str, str],
    ) -> None:
        self._process = start_benchmark(
            commit, folder, hparams_set, command, _IN_TURNS, environment
        )
        self.reports: list[dict[str, Any]] = []

    def ready(self) -> bool:
        """Wait for the next thing to time; False: there is none."""
        return self._next("ready") is not None

    def seconds(self) -> float:
        """Return the duration of one timed run."""
        self._say("run")
        found = self._next("seconds")
        assert found is not None
        return float(found)

    def end(self) -> None:
        """Proceed to the next thing to time."""
        self._say("end")

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def _next(self, word: str) -> str | None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(word):
                return line.removeprefix(word)
            if line.startswith("{"):
                self.reports.append(json.loads(line))
        if self._process.wait():
            raise SystemExit("the benchmark failed, see above")
        return None


def unpack(commit: str, folder: pathlib.Path) -> None:
    """Write the package of a commit, as it would be installed, and its benchmarks."""
    root = pathlib.Path(__file__).resolve().parents[1]
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=False)
    if archive.returncode:
        raise SystemExit(f"error: git has no commit {commit} in {root}: {archive.stderr.decode()}")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    for name in ("problems", "hparams"):
        (folder / name).rename(folder / "t2t_phrase" / name)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    made.add_argument("--base", required=True, help="commit to compare with")
    made.add_argument("--new", default="HEAD", help="the other commit")
    for flag in ("--base_environment", "--new_environment"):
        made.add_argument(
            flag,
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help="variable of its environment",
        )
    made.add_argument("--hparams_set", default="transformer_base", help="hparams set to run")
    made.add_argument("--pairs", type=int, default=21, help="timed runs of each commit")
    made.add_argument("command", nargs="+", help="script in benchmarks/ and its options, after --")
    args = made.parse_args()
    if args.pairs < 2:
        made.error(f"--pairs={args.pairs}: give at least 2, for quartiles")
    for variable in (*args.base_environment, *args.new_environment):
        if "=" not in variable:
            made.error(f"{variable}: give variables of the environment as NAME=VALUE")
    # The number of the report that follows each timing, and the ratios.
    timings: list[tuple[int, list[float]]] = []
    with tempfile.TemporaryDirectory() as scratch:
        base, new = (
            Commit(
                commit,
                pathlib.Path(scratch, name),
                args.hparams_set,
                args.command,
                dict(variable.split("=", 1) for variable in variables),
            )
            for name, commit, variables in (
                ("base", args.base, args.base_environment),
                ("new", args.new, args.new_environment),
            )
        )
        while all([base.ready(), new.ready()]):
            ratios = []
            for number in range(args.pairs):
                # The order alternates, too.
                turns = (base, new) if number % 2 else (new, base)
                seconds = {commit: commit.seconds() for commit in turns}
                ratios.append(seconds[base] / seconds[new])
            timings.append((len(new.reports), ratios))
            base.end()
            new.end()
    if not timings:
        raise SystemExit(f"error: {args.command[0]} times nothing with measure.median_seconds")
    counts = collections.Counter(number for number, _ in timings)
    for place, (number, ratios) in enumerate(timings):
        report = new.reports[number]
        about = {name: value for name, value in report.items() if isinstance(value, str | bool)}
        if counts[number] > 1:
            first = next(i for i, (other, _) in enumerate(timings) if other == number)
            about["timing"] = f"{place - first + 1} of {counts[number]}"
        low, median, high = statistics.quantiles(ratios, n=4)
        print(
            json.dumps(
                {
                    **about,
                    "hparams_set": args.hparams_set,
                    "speed_of_new_over_base": round(median, 3),
                    "quartiles": [round(low, 3), round(high, 3)],
                    "pairs": args.pairs,
                }
            )
        )


if __name__ == "__main__":
    run_script(main)
