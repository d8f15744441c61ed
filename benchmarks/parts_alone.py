"""Gain of searching parts of a batch by core: `decode.py --whole` and `decode.py` in turn.

    python benchmarks/parts_alone.py [--dtype=mixed_bfloat16] [--hparams_set=transformer_multi30k]

Prints the median of (time of the whole batch / time in parts) over pairs of decoded batches, from
two processes that take turns; above 1, parts are faster.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys

from compare_commits import _END, _IN_TURNS, _START
from measure import parser, report
from script import run_script


def start(hparams_set: str, options: list[str]) -> subprocess.Popen[str]:
    """Start `decode.py` with options; it waits for its turns."""
    folder = str(pathlib.Path(__file__).parent)
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            _START + _IN_TURNS + _END,
            folder,
            hparams_set,
            "decode.py",
            *options,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def seconds_of(process: subprocess.Popen[str], request: str) -> float:
    """Let a process take its turn and return its seconds; 0 for the answer "ready"."""
    assert process.stdin is not None and process.stdout is not None
    if request:
        print(request, file=process.stdin, flush=True)
    for line in process.stdout:
        if line.strip() == "ready":
            return 0.0
        if line.startswith("seconds"):
            return float(line.split()[1])
    raise SystemExit("a benchmark ended early")


def main() -> None:
    # With XLA, the decoder does not search in parts.
    options = parser(__doc__, xla=False)
    options.add_argument("--hparams_set", default="transformer_base")
    args = options.parse_args()
    shared = [f"--dtype={args.dtype}"]
    whole, parts = (start(args.hparams_set, [*shared, *more]) for more in (["--whole"], []))
    for process in (whole, parts):
        seconds_of(process, "")
    pairs = [(seconds_of(whole, "run"), seconds_of(parts, "run")) for _ in range(args.repeats)]
    for process in (whole, parts):
        process.kill()
    report(
        benchmark="parts_alone",
        hparams_set=args.hparams_set,
        dtype=args.dtype,
        time_without=round(statistics.median(first / second for first, second in pairs), 3),
    )


if __name__ == "__main__":
    run_script(main)
