"""Compares the speed of two commits: runs a benchmark of each in turn and reports the ratio.

    python benchmarks/compare_commits.py --base=HEAD~1 --rounds=5 -- train_step.py --sizes=32

Both commits are unpacked into temporary folders and run in separate processes, alternately, so that
a slow phase of the machine affects both. For each line of the benchmark and each figure of speed in
it, the median over all rounds of (speed of new / speed of base) is printed; above 1 new is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Any

# A figure of speed in the benchmarks' output, and whether more of it is faster.
SPEEDS = {"tokens_per_second": True, "base_seconds": False, "measured_ratio": False}


def unpack(commit: str, folder: pathlib.Path) -> None:
    """Write the package of a commit, as it would be installed, and its benchmarks."""
    root = pathlib.Path(__file__).resolve().parents[1]
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=root, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    for name in ("problems", "hparams"):
        (folder / name).rename(folder / "t2t_phrase" / name)


def run(folder: pathlib.Path, command: list[str]) -> list[dict[str, Any]]:
    """Run a benchmark of an unpacked commit; return its lines."""
    done = subprocess.run(
        [sys.executable, str(folder / "benchmarks" / command[0]), *command[1:]],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        cwd=folder,
    )
    if done.returncode:
        raise SystemExit(f"{command[0]} failed in {folder}:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def ratios(base: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Return, for each line of one round, how much faster the new commit is."""
    return [
        {
            name: ours[name] / theirs[name] if more else theirs[name] / ours[name]
            for name, more in SPEEDS.items()
            if name in ours and name in theirs
        }
        for theirs, ours in zip(base, new, strict=True)
    ]


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    made.add_argument("--base", required=True, help="commit to compare with")
    made.add_argument("--new", default="HEAD", help="the other commit")
    made.add_argument("--rounds", type=int, default=5, help="runs of each commit")
    made.add_argument("command", nargs="+", help="script in benchmarks/ and its options, after --")
    args = made.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = [pathlib.Path(scratch, name) for name in ("base", "new")]
        for commit, folder in zip((args.base, args.new), folders, strict=True):
            unpack(commit, folder)
        rounds, lines = [], []
        for number in range(args.rounds):
            # The order alternates, too.
            pair = [run(folder, args.command) for folder in folders[:: 1 if number % 2 else -1]]
            base, new = pair if number % 2 else pair[::-1]
            lines = new
            rounds.append(ratios(base, new))
            print(f"round {number + 1} of {args.rounds}: {rounds[-1]}", file=sys.stderr, flush=True)
    for place, line in enumerate(lines):
        about = {name: value for name, value in line.items() if isinstance(value, str | bool)}
        for name in rounds[0][place]:
            values = [found[place][name] for found in rounds]
            spread = [round(min(values), 3), round(max(values), 3)]
            figure = {"figure": name, "new_over_base": round(statistics.median(values), 3)}
            print(json.dumps({**about, **figure, "range": spread, "rounds": args.rounds}))


if __name__ == "__main__":
    main()
