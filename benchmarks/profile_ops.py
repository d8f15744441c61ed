"""The time of a benchmark by kind of operation.

    python benchmarks/profile_ops.py -- train_step.py --sizes=32 [--dtype=mixed_bfloat16]
    python benchmarks/profile_ops.py --commits=HEAD~9,HEAD -- decode.py
    python benchmarks/profile_ops.py --hparams_set=transformer_demo -- \\
        train_step.py --sizes=102x20 --vocab_size=4000

Runs a benchmark that uses `measure.median_seconds` and prints the milliseconds that one timed call
spends in each kind of TensorFlow operation, and how often each runs; with several commits, side by
side. Operations run one after the other, so their times add up to that of the call; each may use
all threads. Programs compiled by XLA are one operation each.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
from collections.abc import Iterable, Sequence

from compare_commits import start_benchmark
from operation_times import Kind
from script import run_script

from t2t_phrase.comparison.table import grid

# Prints the profile of one call instead of timing calls. If two operations ran at the same time,
# each would wait for the other.
_PROFILED = f"""
import json
measure.limit_threads()
import tensorflow as tf
limit = tf.config.threading.set_inter_op_parallelism_threads
tf.config.threading.set_inter_op_parallelism_threads = lambda threads: limit(1)
sys.path.append({str(pathlib.Path(__file__).resolve().parent)!r})
from operation_times import profile

def timed(run, *, repeats):
    print("kinds", json.dumps(profile(run)), flush=True)
    return 1.0
"""


def profiles(commit: str, hparams_set: str, command: list[str]) -> list[list[Kind]]:
    """Return the profile of each thing that a benchmark of a commit times."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch, "commit")
        process = start_benchmark(commit, folder, hparams_set, command, _PROFILED)
        output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"the benchmark of {commit} failed, see above")
    lines = [line for line in output.splitlines() if line.startswith("kinds")]
    return [[Kind(*kind) for kind in json.loads(line.removeprefix("kinds"))] for line in lines]


def table(columns: dict[str, list[Kind]], top: int) -> list[list[str]]:
    """Return the rows of a table: the kinds of operations with the most time in any column.

    Args:
        columns: profiles by name.
        top: number of kinds with a separate row.
    """
    by_name = [{kind.name: kind for kind in kinds} for kinds in columns.values()]
    most = {
        name: max(found[name].seconds for found in by_name if name in found)
        for name in set().union(*by_name)
    }
    shown = sorted(most, key=lambda name: (-most[name], name))[:top]
    rows = [[kinds.get(name) for kinds in by_name] for name in shown]
    others = [[kind for kind in kinds if kind.name not in shown] for kinds in columns.values()]
    lines = [["operation", *(part for name in columns for part in (f"{name}, ms", "runs"))]]
    for name, kinds in zip(shown, rows, strict=True):
        lines.append([name, *_cells([kind] if kind else [] for kind in kinds)])
    return [*lines, ["others", *_cells(others)], ["all", *_cells(columns.values())]]


def _cells(profiles: Iterable[Sequence[Kind]]) -> list[str]:
    """Return the milliseconds and the runs of each profile."""
    return [
        text
        for kinds in profiles
        for text in (
            f"{1000 * sum(kind.seconds for kind in kinds):.1f}",
            str(sum(kind.runs for kind in kinds)),
        )
    ]


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    made.add_argument("--commits", default="HEAD", help="the commits to profile, one or more")
    made.add_argument("--hparams_set", default="transformer_base", help="hparams set to run")
    made.add_argument("--top", type=int, default=25, help="kinds of operations to print")
    made.add_argument("command", nargs="+", help="script in benchmarks/ and its options, after --")
    args = made.parse_args()
    commits = args.commits.split(",")
    found = [profiles(commit, args.hparams_set, args.command) for commit in commits]
    for calls in zip(*found, strict=True):
        print(grid(table(dict(zip(commits, calls, strict=True)), args.top)))


if __name__ == "__main__":
    run_script(main)
